"""Random blocks of every GGUF format that is read, dequantised by the Python package gguf. Usage: make_golden.py > blocks.json"""
import base64, importlib.metadata, json
import numpy as np
from gguf import GGMLQuantizationType as T
from gguf.quants import dequantize

rng = np.random.default_rng(1)
half = lambda scale: np.float16(rng.normal() * scale).tobytes()
raw = lambda n: rng.integers(0, 256, n, dtype=np.uint8).tobytes()
MAKE = {
    T.F16: lambda: half(1), T.BF16: lambda: np.float32(rng.normal()).tobytes()[2:],
    T.Q4_0: lambda: half(.01) + raw(16), T.Q4_1: lambda: half(.01) + half(.1) + raw(16), T.Q8_0: lambda: half(.01) + raw(32),
    T.Q4_K: lambda: half(.01) + half(.01) + raw(140), T.Q6_K: lambda: raw(208) + half(.01),
}
out = {"gguf": importlib.metadata.version("gguf"), "numpy": np.__version__, "blocks": []}
for kind, make in MAKE.items():
    data = b"".join(make() for _ in range(32 if kind in (T.F16, T.BF16) else 3))
    values = dequantize(np.frombuffer(data, np.uint8), kind).astype("<f4").ravel()
    out["blocks"].append(dict(type=int(kind), name=kind.name, bytes=base64.b64encode(data).decode(), values=base64.b64encode(values.tobytes()).decode()))
print(json.dumps(out))

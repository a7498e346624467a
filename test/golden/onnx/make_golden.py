"""Golden numbers for the local ONNX drivers, made without any code of this project: the Rust tokenizers and ONNX Runtime from
Python, one text per run. Usage: make_golden.py MODELS_FOLDER > golden.json"""
import json, sys
import numpy as np, onnxruntime as ort
from tokenizers import Tokenizer

models = sys.argv[1]
texts = [
    "How many people live in Berlin?",
    "def read_csv(path): return [row.split(',') for row in open(path)]",
    "Über naïve façades — 東京 and Москва, 100% e\u0301tude… ½ ﬁne",
    "tabs\tand\u00a0spaces\u2003 and a \u0000 control\u200b character",
    "[MASK] [SEP] ##ing [unused1] a'b don't U.S.A. http://x.y/z?q=1&r=%20",
    "supercalifragilisticexpialidocious" * 4,
    "aspirin reduces the risk of stroke " * 80,
]
pairs = [
    ("How many people live in Berlin?", "Berlin had a population of 3,520,031 registered inhabitants in an area of 891.82 square kilometers."),
    ("How many people live in Berlin?", "Berlin is well known for its museums."),
    ("what reduces the risk of stroke", "aspirin reduces the risk of stroke " * 120),
]


def load(name):
    tokenizer = Tokenizer.from_file(f"{models}/{name}/tokenizer.json")
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, ort.InferenceSession(f"{models}/{name}/model.onnx", providers=["CPUExecutionProvider"])


def run(session, encoding):
    row = lambda values: np.array([values], dtype=np.int64)
    return session.run(None, {"input_ids": row(encoding.ids), "attention_mask": row(encoding.attention_mask), "token_type_ids": row(encoding.type_ids)})[0]


def embed(name, pooling, prompt, limit):
    tokenizer, session = load(name)
    tokenizer.enable_truncation(limit)
    out = []
    for text in texts:
        encoding = tokenizer.encode(prompt + text)
        states = run(session, encoding)[0].astype(np.float64)
        vector = states.mean(axis=0) if pooling == "mean" else states[0]
        vector /= np.linalg.norm(vector)
        out.append({"ids": encoding.ids[:40], "tokens": len(encoding.ids), "vector": [round(float(x), 7) for x in vector[:8]]})
    return out


def rerank(name):
    tokenizer, session = load(name)
    tokenizer.enable_truncation(512, strategy="only_second")
    return [{"tokens": len(e.ids), "logit": float(run(session, e)[0][0])} for e in (tokenizer.encode(*pair) for pair in pairs)]


json.dump({
    "texts": texts,
    "pairs": pairs,
    "all-minilm-l6-v2": embed("all-minilm-l6-v2", "mean", "", 256),
    "bge-small-en-v1.5-int8": embed("bge-small-en-v1.5-int8", "cls", "Represent this sentence for searching relevant passages: ", 256),
    "e5-small-v2-int8": embed("e5-small-v2-int8", "mean", "query: ", 256),
    "ms-marco-minilm-l-12-v2-int8": rerank("ms-marco-minilm-l-12-v2-int8"),
}, sys.stdout, ensure_ascii=True, separators=(",", ":"))
print()

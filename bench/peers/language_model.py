"""The other side of lm-decode and lm-train: transformers, peft and llama.cpp (xllamacpp) on the same model. Prints one JSON object.

python language_model.py decode|train FOLDER GGUF GROUPS NEW_TOKENS
FOLDER: the model in single precision as a Hugging Face folder; GGUF: the same in four bits. Processor seconds are over all threads.
"""
import json
import os
import sys
import time

mode, folder, gguf, groups, new_tokens = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
SAMPLES, PROMPT, COMPLETION = 8, 256, 64


def timed(work):
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return {"seconds": time.perf_counter() - wall, "cpuSeconds": time.process_time() - cpu}


def decode():
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(os.cpu_count())
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
    vocabulary = model.config.vocab_size

    def steps(prompts, samples):
        torch.manual_seed(1)
        ids = torch.randint(2, vocabulary, (prompts, PROMPT)).repeat_interleave(samples, 0)
        more = dict(do_sample=True, top_k=20, eos_token_id=None, pad_token_id=0, attention_mask=torch.ones_like(ids))
        run = lambda count: timed(lambda: model.generate(ids, min_new_tokens=count, max_new_tokens=count, **more))
        run(2)
        one, all_ = run(1), run(1 + new_tokens)
        return {key: (all_[key] - one[key]) / new_tokens for key in one}

    with torch.no_grad():
        return {"huggingFaceStepB1": steps(1, 1), f"huggingFaceStepB{groups * SAMPLES}": steps(groups, SAMPLES)}


def llama_cpp():
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = gguf
    params.n_ctx = 1024
    params.n_parallel = 1
    params.cpuparams.n_threads = os.cpu_count()
    params.verbosity = -1
    server = xllamacpp.Server(params)

    def run(count):
        prompt = " ".join(str(i) for i in range(60))
        ask = {"prompt": prompt, "n_predict": count, "ignore_eos": True, "cache_prompt": True, "temperature": 1.0}
        return timed(lambda: server.handle_completions(ask))

    run(2)
    one, all_ = run(1), run(1 + 4 * new_tokens)
    return {"llamaCppStepB1": {key: (all_[key] - one[key]) / (4 * new_tokens) for key in one}}


def train():
    import torch
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(os.cpu_count())
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    targets = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    model = get_peft_model(base, LoraConfig(r=8, lora_alpha=16, target_modules=targets, task_type="CAUSAL_LM"))
    optimiser = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-4)
    torch.manual_seed(1)
    vocabulary = base.config.vocab_size
    batches = [torch.randint(2, vocabulary, (SAMPLES, PROMPT + COMPLETION)) for _ in range(groups)]
    slopes = torch.sin(torch.arange(SAMPLES * COMPLETION, dtype=torch.float32)).reshape(SAMPLES, COMPLETION)

    def update():
        # As trainers do it: every completion with its prompt, logits of the completions alone.
        for ids in batches:
            logits = model(ids, logits_to_keep=COMPLETION + 1).logits[:, :-1].float()
            picked = logits.log_softmax(-1).gather(-1, ids[:, -COMPLETION:, None])[..., 0]
            (picked * slopes).sum().div(groups * slopes.numel()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        optimiser.zero_grad()

    figures = {"torchUpdate": timed(update)}
    if "bf16" in os.environ.get("DOCOPT_PEER", ""):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            figures["torchUpdateBfloat16"] = timed(update)
    return figures


def attempt(work):
    try:
        return work()
    except ImportError as error:
        return {"missing": str(error)}


out = attempt(train) if mode == "train" else {**attempt(decode), **attempt(llama_cpp)}
print(json.dumps(out))

"""Tiny random decoders of every family as Hugging Face folders, and what transformers and peft compute with them.

python make_golden.py   (torch, transformers, peft, tokenizers; versions are written into golden.json)
"""
import json
import os
import shutil

import peft
import tokenizers
import torch
import transformers
from peft import LoraConfig, get_peft_model
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, PreTrainedTokenizerFast, Qwen2Config, Qwen3Config, AutoModelForCausalLM

HERE = os.path.dirname(os.path.abspath(__file__))
TEXT = "Parse a date. The quick brown fox returns the naïve sum of two lists, 12 or 345 of them."
TEMPLATE = (
    "{% for m in messages %}<s>{{ m['role'] }}\n{{ m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<s>assistant\n{% endif %}"
)

raw = Tokenizer(models.BPE())
raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
raw.decoder = decoders.ByteLevel()
raw.train_from_iterator(
    [TEXT] * 4,
    trainers.BpeTrainer(
        vocab_size=300, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    ),
)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, bos_token="<s>", eos_token="</s>", pad_token="</s>")
tokenizer.chat_template = TEMPLATE

COMMON = dict(
    vocab_size=len(tokenizer), hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, max_position_embeddings=256, rms_norm_eps=1e-5,
    bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id,
)
FAMILIES = {
    # Untied head, stretched positions, half precision, several files.
    "llama3": (LlamaConfig(**COMMON, tie_word_embeddings=False, rope_parameters={
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 32}), torch.bfloat16, "12KB"),
    # Biases of q, k and v; tied head.
    "qwen2": (Qwen2Config(**COMMON, tie_word_embeddings=True), torch.float32, "5GB"),
    # Norms of q and k; heads wider than the model.
    "qwen3": (Qwen3Config(**COMMON, tie_word_embeddings=True, head_dim=8), torch.float16, "5GB"),
}

golden = {"versions": {m.__name__: m.__version__ for m in (torch, transformers, peft, tokenizers)},
          "text": TEXT, "families": {}}
messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": TEXT}]
for number, (name, (config, dtype, shard)) in enumerate(FAMILIES.items()):
    folder = os.path.join(HERE, name)
    shutil.rmtree(folder, ignore_errors=True)
    torch.manual_seed(7 + number)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():  # Larger than at the start of a training, so that every part shows in the logits.
        for key, parameter in model.named_parameters():
            if "norm" in key:
                parameter.copy_(1 + 0.3 * torch.randn_like(parameter))
            else:
                parameter.copy_(torch.randn_like(parameter) * (0.5 if "embed" in key or "head" in key else 0.3))
    model.to(dtype).save_pretrained(folder, max_shard_size=shard)
    tokenizer.save_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    ids = tokenizer(ids, add_special_tokens=False)["input_ids"]
    prompt, completion = ids[:-12], ids[-12:]
    tokens = torch.tensor([ids])
    with torch.no_grad():
        logits = model(tokens).logits[0]
        greedy = model.generate(torch.tensor([prompt]), attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
                                max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=1)[0, len(prompt):]
    torch.manual_seed(1)
    adapted = get_peft_model(model, LoraConfig(r=2, lora_alpha=6, target_modules=[
        "q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"], task_type="CAUSAL_LM"))
    with torch.no_grad():
        for key, parameter in adapted.named_parameters():
            if "lora_" in key:
                index = torch.arange(parameter.numel(), dtype=torch.float32).reshape(parameter.shape)
                parameter.copy_(0.1 * torch.sin(3 * index + 1))
    out = adapted(tokens).logits[0].log_softmax(-1)
    rows = torch.arange(len(prompt) - 1, len(ids) - 1)
    picked = out[rows, torch.tensor(completion)]
    (-picked.mean()).backward()
    gradients = {key.replace("base_model.model.", "").replace(".default", ""): float(p.grad.norm())
                 for key, p in adapted.named_parameters() if p.grad is not None}
    golden["families"][name] = {
        "prompt": prompt, "completion": completion,
        "last_logits": [round(float(x), 6) for x in logits[-1]],
        "log_probs": [round(float(x), 6) for x in logits.log_softmax(-1)[rows, torch.tensor(completion)]],
        "greedy": greedy.tolist(),
        "adapter_log_probs": [round(float(x), 6) for x in picked.detach()],
        "adapter_gradient_norms": {key: float(f"{value:.6g}") for key, value in gradients.items()},
    }
with open(os.path.join(HERE, "golden.json"), "w") as file:
    json.dump(golden, file)
    file.write("\n")

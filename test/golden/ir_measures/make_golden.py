"""Makes qrels.txt, run.txt and expected.json (per query and mean) with ir_measures; see README.md."""

import json
import random
import warnings

import ir_measures

warnings.simplefilter('ignore')
random.seed(11)
with open('qrels.txt', 'w') as qrels, open('run.txt', 'w') as run:
    for query in range(24):
        pool = [f'd{i}' for i in range(24)]
        top = random.choice([0, 1, 2, 4])
        for document in [d for d in pool if random.random() < 0.4] or ['d0']:
            qrels.write(f'q{query} 0 {document} {random.randint(-1, top)}\n')
        if query % 8 == 5:
            continue  # not answered
        for rank, document in enumerate(random.sample(pool, random.randint(1, 20))):
            # Exact ties, and scores that only 64-bit floats tell apart.
            score = random.choice([random.randint(0, 4) / 3, 1 / 3 + random.randint(0, 2) * 1e-9, random.random()])
            run.write(f'q{query} Q0 {document} {rank + 1} {score!r} golden\n')
    run.write('unjudged Q0 d1 1 1.0 golden\n')

TREC = """nDCG@1 nDCG@5 nDCG@10 nDCG nDCG(judged_only=True)@5 nDCG(gains={0:1,1:3,2:7})@10 AP AP@10 AP(rel=2)
AP(rel=2,judged_only=True)@20 RR RR(rel=2) P@1 P@10 P(rel=2)@5 P(judged_only=True)@5 R@5 R@100 R(rel=2)@10 Rprec
Rprec(rel=2) Success@1 Success@10 Success(rel=2)@3 Bpref Bpref(rel=2) infAP infAP(rel=2) SetP SetP(relative=True) SetR
SetF SetF(beta=0.5) SetAP NumRet NumRet(rel=1) NumRet(rel=2) IPrec@0.0 IPrec@0.5 IPrec@1.0""".split()
ID = ['RR@3', 'RR@10', 'Judged@3', 'Judged@10', 'Judged']

qrels = list(ir_measures.read_trec_qrels('qrels.txt'))
run = list(ir_measures.read_trec_run('run.txt'))
expected = {}
for ties, names in (('trec', TREC), ('id', ID)):
    for name in names:
        mean, per_query = ir_measures.calc([ir_measures.parse_measure(name)], qrels, run)
        values = {m.query_id: m.value for m in sorted(per_query, key=lambda m: m.query_id)}
        expected[name] = {'ties': ties, 'mean': list(mean.values())[0], 'perQuery': values}
with open('expected.json', 'w') as file:
    json.dump(expected, file, separators=(',', ':'))
    file.write('\n')

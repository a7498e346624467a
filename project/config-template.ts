/** The configuration that `docopt init` writes: every line is a default or a choice worth knowing. `schema`: its path, for editors. */
export function configTemplate(template: 'code' | 'prose' | 'beir', schema: string): string {
  const retriever = template === 'code' ? 'code' : 'english';
  return `# yaml-language-server: $schema=${schema}
# Any key here is also a flag (--retriever), a --set key and an environment variable (DOCOPT_RETRIEVER).

# A BEIR folder (corpus.jsonl, queries.jsonl, qrels/*.tsv) or any format that \`docopt validate\` accepts.
data: ${template === 'beir' ? 'path/to/your/data' : 'data'}

retriever:
  driver: bm25
  k1: 0.9
  b: 0.4
  analyzer: ${retriever}        # standard | english | code

metrics: [nDCG@5, nDCG@10, R@100]
seed: 1

# Settings of one command only:
commands:
  train:
    steps: 150
  serve:
    port: 7700
`;
}

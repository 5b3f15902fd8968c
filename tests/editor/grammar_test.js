// The TextMate grammar, by the engine that editors use: it knows every word of the lexer, and every
// policy that is shipped gets a colour for all that is not a name of its author's.
'use strict';

const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const oniguruma = require('vscode-oniguruma');
const textmate = require('vscode-textmate');

const source = process.env.CURFEW_SOURCE_DIR;
assert.ok(source, 'CURFEW_SOURCE_DIR names the source tree');
const grammar_file = path.join(source, 'grammar/editor/syntaxes/curfew.tmLanguage.json');

async function load() {
  const wasm = fs.readFileSync(
    path.join(path.dirname(require.resolve('vscode-oniguruma')), 'onig.wasm'));
  await oniguruma.loadWASM(wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.byteLength));
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text) => new oniguruma.OnigString(text),
    }),
    loadGrammar: async (scope) => scope === 'source.curfew'
      ? textmate.parseRawGrammar(fs.readFileSync(grammar_file, 'utf8'), grammar_file)
      : null,
  });
  return registry.loadGrammar('source.curfew');
}
const loaded = load();

// [text, innermost scope] of each token of a text that is not white space.
async function tokens(text) {
  const grammar = await loaded;
  const list = [];
  let state = textmate.INITIAL;
  for (const line of text.split('\n')) {
    const result = grammar.tokenizeLine(line, state);
    state = result.ruleStack;
    for (const token of result.tokens) {
      const word = line.slice(token.startIndex, token.endIndex);
      if (word.trim() !== '') list.push([word, token.scopes.at(-1)]);
    }
  }
  return list;
}

function policies(folder) {
  return fs.readdirSync(path.join(source, folder), { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.curfew'))
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name));
}

test('every word of the lexer has a colour', async () => {
  const lexer = fs.readFileSync(path.join(source, 'grammar/CurfewLexer.g4'), 'utf8');
  const words = [...lexer.matchAll(/^(?:[A-Z]+ : '[a-z]+'; ?)+/gm)]
    .flatMap((line) => [...line[0].matchAll(/'([a-z]+)'/g)].map((match) => match[1]));
  assert.ok(words.length > 100, `${words.length} words were found in the lexer`);
  for (const word of words) {
    const found = await tokens(`x ${word}`);
    assert.match(found.at(-1)[1], /^(keyword|constant)\./, `\`${word}\` has no colour`);
  }
});

test('literals, comments and names have the colour of their kind', async () => {
  const cases = [
    ['# note', '# note', 'comment.line.number-sign'],
    ['## doc', '## doc', 'comment.line.documentation'],
    ['"a\\n"', '\\n', 'constant.character.escape'],
    ['"a\\q"', '\\q', 'invalid.illegal'],
    ['"/x/**"', '**', 'keyword.operator.wildcard'],
    ['sha256:9f86', 'sha256:9f86', 'constant.other.digest'],
    ['2026-11-29T00:00:00Z', '2026-11-29T00:00:00Z', 'constant.other.time'],
    ['ttl 1h30m', '1h30m', 'constant.numeric.quantity'],
    ['ports 8000..8100', '..', 'keyword.operator.range'],
    ['allow GET', 'GET', 'support.constant.method'],
    ['when task.kind', 'task.kind', 'variable.other.attribute'],
    ['  api: allow', 'api', 'entity.name.function.label'],
    ['sandbox coding narrows base', 'coding', 'entity.name.type'],
    ['sandbox coding narrows base', 'base', 'entity.other.inherited-class'],
    ['x -> y', '->', 'keyword.operator.arrow'],
  ];
  for (const [text, word, scope] of cases) {
    const found = (await tokens(text)).find((token) => token[0].trim() === word);
    assert.ok(found && found[1].startsWith(scope), `${text}: ${JSON.stringify(found)}`);
  }
});

test('in every shipped policy only names of the author have no colour', async () => {
  const files = [...policies('examples'), ...policies('policies')];
  assert.ok(files.length >= 3, 'policies are shipped');
  for (const file of files) {
    for (const [word, scope] of await tokens(fs.readFileSync(file, 'utf8'))) {
      if (scope === 'source.curfew') {
        assert.match(word.trim(), /^[a-z_][a-z0-9_]*(\s+[a-z_][a-z0-9_]*)*$/, `${file}: \`${word}\``);
      }
      assert.doesNotMatch(scope, /^invalid/, `${file}: \`${word}\``);
    }
  }
});

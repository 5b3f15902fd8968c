// Every diagnostic and every finding of the golden inputs as SARIF: a document that the schema of
// SARIF 2.1.0 takes and that describes each rule it names.
'use strict';

const assert = require('node:assert');
const child_process = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const Ajv = require('ajv/dist/2020');
const add_formats = require('ajv-formats');

const source = process.env.CURFEW_SOURCE_DIR;
const program = process.env.CURFEW_PROGRAM;
assert.ok(source && program, 'CURFEW_SOURCE_DIR and CURFEW_PROGRAM are set');

const ajv = new Ajv({ strict: false, allErrors: true });
add_formats(ajv);
const tool = path.dirname(require.resolve('@microsoft/sarif-multitool-linux/package.json'));
const schema = JSON.parse(fs.readFileSync(path.join(tool, 'sarif-2.1.0.json'), 'utf8'));
const is_sarif = ajv.compile(schema);

function inputs(stage) {
  const folder = path.join(source, 'tests/golden', stage);
  return fs.readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.curfew')).map((name) => path.join(folder, name));
}

// The document that `verb` prints of `file`, and its results.
function results(verb, file) {
  const ran = child_process.spawnSync(program, [verb, file, '--format', 'sarif'],
    { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  assert.ok([0, 2, 3].includes(ran.status), `${verb} ${file}: ${ran.status} ${ran.stderr}`);
  const document = JSON.parse(ran.stdout);
  assert.ok(is_sarif(document), `${verb} ${file}: ${ajv.errorsText(is_sarif.errors)}`);
  const [run] = document.runs;
  const rules = new Set(run.tool.driver.rules.map((rule) => rule.id));
  for (const result of run.results) {
    assert.ok(rules.has(result.ruleId), `${verb} ${file} does not describe ${result.ruleId}`);
    assert.ok(result.message.text.length > 0);
  }
  return run.results;
}

test('the schema refuses what is no SARIF', () => {
  assert.ok(!is_sarif({ version: '2.1.0' }));
  assert.ok(!is_sarif({ version: '2.1.0', runs: [{ tool: { driver: {} } }] }));
  assert.ok(is_sarif({ version: '2.1.0', runs: [{ tool: { driver: { name: 'x' } } }] }));
});

for (const [stage, verb, least] of [['syntax', 'check', 50], ['check', 'check', 200], ['lint', 'lint', 60]]) {
  test(`what ${verb} finds in tests/golden/${stage} is SARIF`, () => {
    const files = inputs(stage);
    assert.ok(files.length > 5, `${files.length} inputs`);
    const found = files.flatMap((file) => results(verb, file));
    assert.ok(found.length >= least, `${found.length} results`);
    assert.ok(found.some((result) => result.fixes), 'some result has a change that mends it');
    assert.ok(found.some((result) => result.relatedLocations), 'some result has a second place');
  });
}

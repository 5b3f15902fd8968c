// `curfew lsp` as an editor meets it: the protocol's own client speaks to the program.
'use strict';

const assert = require('node:assert');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { pathToFileURL } = require('node:url');
const protocol = require('vscode-languageserver-protocol/node');

const program = process.env.CURFEW_PROGRAM;
assert.ok(program, 'CURFEW_PROGRAM names the program');
const patience_ms = 120000;  // a loaded machine

// What can be applied to a text, as an editor does it.
function applied(text, edits) {
  const starts = [0];
  for (let i = 0; i < text.length; ++i) {
    if (text[i] === '\n') starts.push(i + 1);
  }
  const offset = (position) => starts[position.line] + position.character;
  const sorted = [...edits].sort((a, b) => offset(b.range.start) - offset(a.range.start));
  for (const edit of sorted) {
    text = text.slice(0, offset(edit.range.start)) + edit.newText + text.slice(offset(edit.range.end));
  }
  return text;
}

class Editor {
  constructor() {
    this.folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'curfew-editor-')));
    this.process = spawn(program, ['lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'pipe'] });
    this.complaints = '';
    this.process.stderr.on('data', (text) => (this.complaints += text));
    this.ended = new Promise((resolve) => this.process.on('exit', (status) => resolve(status)));
    this.connection = protocol.createProtocolConnection(
      new protocol.StreamMessageReader(this.process.stdout),
      new protocol.StreamMessageWriter(this.process.stdin));
    this.published = new Map();
    this.waiting = [];
    this.connection.onNotification(protocol.PublishDiagnosticsNotification.type, (params) => {
      this.published.set(params.uri, params);
      this.waiting = this.waiting.filter((look) => !look());
    });
    this.connection.listen();
    this.versions = new Map();
  }

  async start() {
    return this.connection.sendRequest(protocol.InitializeRequest.type, {
      processId: process.pid,
      rootUri: null,
      workspaceFolders: [{ uri: this.uri(''), name: 'policies' }],
      capabilities: { general: { positionEncodings: ['utf-16'] } },
    }).then((answer) => {
      this.connection.sendNotification(protocol.InitializedNotification.type, {});
      return answer;
    });
  }

  write(name, text) {
    fs.mkdirSync(path.dirname(path.join(this.folder, name)), { recursive: true });
    fs.writeFileSync(path.join(this.folder, name), text);
  }
  uri(name) {
    return pathToFileURL(path.join(this.folder, name)).href;
  }
  open(name, text) {
    this.versions.set(name, 1);
    this.connection.sendNotification(protocol.DidOpenTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), languageId: 'curfew', version: 1, text },
    });
  }
  change(name, ...contentChanges) {
    const version = this.versions.get(name) + 1;
    this.versions.set(name, version);
    this.connection.sendNotification(protocol.DidChangeTextDocumentNotification.type, {
      textDocument: { uri: this.uri(name), version },
      contentChanges,
    });
  }
  // The errors of a file once they are as `wanted` says.
  diagnostics(name, wanted) {
    return this.shown(name, wanted,
      (one) => one.severity === protocol.DiagnosticSeverity.Error);
  }
  // The same of what is shown and `is` one of.
  shown(name, wanted, is) {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`${name}: ${JSON.stringify(this.published.get(this.uri(name)))}`)),
        patience_ms);
      timer.unref();  // of two that are waited for, one may never come
      const look = () => {
        const params = this.published.get(this.uri(name));
        if (params === undefined) return false;
        const list = params.diagnostics.filter(is);
        if (!wanted(list)) return false;
        clearTimeout(timer);
        resolve(list);
        return true;
      };
      if (!look()) this.waiting.push(look);
    });
  }
  ask(type, name, more) {
    return this.connection.sendRequest(type, { textDocument: { uri: this.uri(name) }, ...more });
  }
  async stop() {
    await this.connection.sendRequest(protocol.ShutdownRequest.type);
    await this.connection.sendNotification(protocol.ExitNotification.type);
    const status = await this.ended;
    this.connection.dispose();
    fs.rmSync(this.folder, { recursive: true });
    return status;
  }
}

const digest = 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';
const images = `## What every task runs.\nimage python312 { digest ${digest} }\n`;
const policy = `language 1
use "shared/images.curfew"

attributes task {
  ## How much harm it could do.
  risk: low < medium < high
}

# 😀 two units of UTF-16
sandbox coding when task.kind == "coding" {
  image    { allow python312  isolation any }
  network  { api: allow GET "http://apis.example/**" }
  lifetime { ttl 1h }
}

deny create when task.risk == high because "😀"

test "one" {
  given task   { kind: "coding", risk: low, owner: "user:ana" }
  given caller { id: "user:ana" }
  create image python312           -> allow coding
  egress GET "http://apis.example/"  -> allow coding.network.api
}
`;

// The place of the `nth` occurrence of `word`, `further` characters behind its begin.
function place(text, word, further = 1, nth = 1) {
  let at = -1;
  for (let i = 0; i < nth; ++i) at = text.indexOf(word, at + 1);
  assert.ok(at >= 0, `${word} stands in the text`);
  const before = text.slice(0, at + further);
  const line = before.split('\n').length - 1;
  return { line, character: before.length - (before.lastIndexOf('\n') + 1) };
}

function session(name, run) {
  test(name, { timeout: 4 * patience_ms }, async () => {
    const editor = new Editor();
    try {
      const answer = await editor.start();
      await run(editor, answer);
      assert.strictEqual(await editor.stop(), 0, editor.complaints);
    } finally {
      editor.process.kill('SIGKILL');
    }
  });
}

session('diagnostics while typing, a fix, and formatting', async (editor, answer) => {
  assert.strictEqual(answer.capabilities.positionEncoding, 'utf-16');
  assert.strictEqual(answer.serverInfo.name, 'curfew');
  editor.write('shared/images.curfew', images);
  editor.write('task.curfew', policy);
  editor.open('task.curfew', policy);
  await editor.diagnostics('task.curfew', (list) => list.length === 0);

  // A letter goes, behind a character of two units.
  const wrong = place(policy, 'high because', 1);
  editor.change('task.curfew', { range: { start: wrong, end: { ...wrong, character: wrong.character + 1 } }, text: '' });
  const text = policy.replace('high because', 'hgh because');
  const found = await editor.diagnostics('task.curfew', (list) => list.length > 0);
  assert.strictEqual(found.length, 1);
  assert.match(found[0].code, /^CUR\d{4}$/);
  assert.strictEqual(found[0].source, 'curfew');
  assert.strictEqual(found[0].severity, protocol.DiagnosticSeverity.Error);
  assert.deepStrictEqual(found[0].range.start, place(text, 'hgh', 0));

  const actions = await editor.ask(protocol.CodeActionRequest.type, 'task.curfew', {
    range: found[0].range, context: { diagnostics: found },
  });
  assert.ok(actions.length >= 1, 'a misspelt value has a fix');
  const edits = actions[0].edit.changes[editor.uri('task.curfew')];
  assert.strictEqual(applied(text, edits), policy);
  editor.change('task.curfew', ...edits.map((edit) => ({ range: edit.range, text: edit.newText })));
  await editor.diagnostics('task.curfew', (list) => list.length === 0);

  // The layout that `curfew fmt` gives.
  editor.change('task.curfew', { text: policy.replace('deny create', 'deny    create') });
  const layout = await editor.ask(protocol.DocumentFormattingRequest.type, 'task.curfew', {
    options: { tabSize: 2, insertSpaces: true },
  });
  const formatted = applied(policy.replace('deny create', 'deny    create'), layout);
  fs.writeFileSync(path.join(editor.folder, 'check.curfew'), formatted);
  const check = spawn(program, ['fmt', '--check', path.join(editor.folder, 'check.curfew')]);
  assert.strictEqual(await new Promise((resolve) => check.on('exit', resolve)), 0);
  fs.rmSync(path.join(editor.folder, 'check.curfew'));
});

session('what lint finds, with its fix, until it is suppressed', async (editor) => {
  editor.write('shared/images.curfew', images);
  const text = policy + 'hosts idle ["npm.example"]\n';
  editor.write('task.curfew', text);
  editor.open('task.curfew', text);
  const isUnused = (one) => one.code === 'CUR9507';
  const found = await editor.shown('task.curfew', (list) => list.length === 1, isUnused);
  assert.strictEqual(found[0].severity, protocol.DiagnosticSeverity.Warning);
  assert.deepStrictEqual(found[0].range.start, place(text, 'idle', 0));

  const actions = await editor.ask(protocol.CodeActionRequest.type, 'task.curfew', {
    range: found[0].range, context: { diagnostics: found },
  });
  const action = actions.find((one) => isUnused(one.diagnostics[0]));
  const edits = action.edit.changes[editor.uri('task.curfew')];
  assert.strictEqual(applied(text, edits), policy);

  const suppressed = text.replace('hosts idle',
    '# curfew: allow CUR9507 until ' + new Date(Date.now() + 86400000).toISOString().replace(/\.\d+/, '') +
    ' because "soon"\nhosts idle');
  editor.change('task.curfew', { text: suppressed });
  await editor.shown('task.curfew', (list) => list.length === 0, isUnused);
  await editor.shown('task.curfew', (list) => list.length === 0, (one) => /^CUR900/.test(one.code));

  // Hover has what holds in the end.
  const chain = policy + 'sandbox tight narrows coding when task.risk == low { lifetime { ttl 30m } }\n';
  editor.change('task.curfew', { text: chain });
  const hover = await editor.ask(protocol.HoverRequest.type, 'task.curfew', {
    position: place(chain, 'tight', 1),
  });
  assert.match(hover.contents.value, /lifetime ttl: `30m`/);
});

session('a second place, in another file, and a file that is mended on disk', async (editor) => {
  editor.write('shared/images.curfew', images);
  editor.write('task.curfew', policy + `image python312 { digest ${digest} }\n`);
  editor.open('task.curfew', policy + `image python312 { digest ${digest} }\n`);
  // By name the file below stands first or last; the second declaration is the one that is wrong.
  const wrong = await Promise.race(['task.curfew', 'shared/images.curfew'].map(
    (name) => editor.diagnostics(name, (list) => list.some((one) => one.code === 'CUR3002'))));
  const related = wrong.find((one) => one.code === 'CUR3002').relatedInformation;
  assert.strictEqual(related.length, 1);
  assert.ok(related[0].location.uri.endsWith('.curfew'));
  editor.change('task.curfew', { text: policy });
  await editor.diagnostics('task.curfew', (list) => list.length === 0);

  editor.write('shared/images.curfew', '');
  editor.connection.sendNotification(protocol.DidChangeWatchedFilesNotification.type, {
    changes: [{ uri: editor.uri('shared/images.curfew'), type: protocol.FileChangeType.Changed }],
  });
  await editor.diagnostics('shared/images.curfew', (list) => list.length > 0);
  editor.write('shared/images.curfew', images);
  editor.connection.sendNotification(protocol.DidSaveTextDocumentNotification.type, {
    textDocument: { uri: editor.uri('task.curfew') },
  });
  await editor.diagnostics('shared/images.curfew', (list) => list.length === 0);
});

session('hover, completion, definition, references, renaming, outline', async (editor) => {
  editor.write('shared/images.curfew', images);
  editor.write('task.curfew', policy);
  editor.open('task.curfew', policy);
  const at = (word, further, nth) => ({ position: place(policy, word, further, nth) });

  const hover = await editor.ask(protocol.HoverRequest.type, 'task.curfew', at('task.risk', 6));
  assert.match(hover.contents.value, /low < medium < high/);
  assert.match(hover.contents.value, /How much harm/);
  assert.deepStrictEqual(hover.range.start, place(policy, 'task.risk', 0));

  const definition = await editor.ask(protocol.DefinitionRequest.type, 'task.curfew', at('python312'));
  assert.strictEqual(definition.uri, editor.uri('shared/images.curfew'));
  assert.deepStrictEqual(definition.range.start, place(images, 'python312', 0));

  const references = await editor.ask(protocol.ReferencesRequest.type, 'task.curfew', {
    ...at('api:'), context: { includeDeclaration: true },
  });
  assert.strictEqual(references.length, 2);

  const open = policy + 'deny egress when egress.ho';
  editor.change('task.curfew', { text: open });
  const list = await editor.ask(protocol.CompletionRequest.type, 'task.curfew', {
    position: place(open, 'egress.ho', 9),
  });
  const host = list.find((item) => item.label === 'egress.host');
  assert.strictEqual(host.detail, 'host');
  assert.strictEqual(applied(open, [host.textEdit]), policy + 'deny egress when egress.host');
  editor.change('task.curfew', { text: policy });

  const renamed = await editor.ask(protocol.RenameRequest.type, 'task.curfew', {
    ...at('python312'), newName: 'base',
  });
  assert.strictEqual(applied(images, renamed.changes[editor.uri('shared/images.curfew')]),
    images.replaceAll('python312', 'base'));
  assert.strictEqual(applied(policy, renamed.changes[editor.uri('task.curfew')]),
    policy.replaceAll('python312', 'base'));
  await assert.rejects(
    editor.ask(protocol.RenameRequest.type, 'task.curfew', { ...at('python312'), newName: 'coding' }),
    /declared twice/);

  const outline = await editor.ask(protocol.DocumentSymbolRequest.type, 'task.curfew', {});
  assert.deepStrictEqual(outline.map((node) => node.name),
    ['attributes task', 'coding', 'deny create', 'one']);
  const folds = await editor.ask(protocol.FoldingRangeRequest.type, 'task.curfew', {});
  assert.ok(folds.length >= 3);
});

test('what is no stream of messages ends the program with status 1', async () => {
  for (const bytes of ['GET / HTTP/1.1\r\n\r\n', 'Content-Length: x\r\n\r\n{}', '']) {
    const run = spawn(program, ['lsp'], { stdio: ['pipe', 'ignore', 'pipe'] });
    let complaints = '';
    run.stderr.on('data', (text) => (complaints += text));
    run.stdin.on('error', () => {});
    run.stdin.end(bytes);
    assert.strictEqual(await new Promise((resolve) => run.on('close', resolve)), 1);
    assert.match(complaints, /^curfew: /);
  }
});

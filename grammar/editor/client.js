// Starts `curfew lsp` and lets it answer for every policy that is open. All that the language means
// is the server's to say.
'use strict';

const vscode = require('vscode');
const { LanguageClient, TransportKind } = require('vscode-languageclient/node');

let client;

function activate(context) {
  const program = vscode.workspace.getConfiguration('curfew').get('program', 'curfew');
  const server = { command: program, args: ['lsp'], transport: TransportKind.stdio };
  // Lists stand in files of any name; a policy reads them with its set.
  const files = vscode.workspace.createFileSystemWatcher('**/*.{curfew,txt}');
  context.subscriptions.push(files);
  client = new LanguageClient('curfew', 'Curfew', server, {
    documentSelector: [{ language: 'curfew' }],
    synchronize: { fileEvents: files },
  });
  return client.start().catch((error) => {
    vscode.window.showErrorMessage(
      `Curfew: \`${program} lsp\` does not start (${error.message}). ` +
        'Put the program into PATH, or name it in the setting curfew.program.');
  });
}

function deactivate() {
  return client === undefined ? undefined : client.stop();
}

module.exports = { activate, deactivate };

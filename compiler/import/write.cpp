#include "compiler/base/text.h"
#include "compiler/import/draft.h"
#include "compiler/source/text_faults.h"
#include "compiler/syntax/format.h"
#include "compiler/syntax/parse.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::import {
namespace {

// One line that no reader can misread, whatever the source holds.
std::string CommentOf(std::string_view text) {
  std::string line;
  while (!text.empty()) {
    const auto point = DecodeUtf8(text);
    const bool is_plain = point && point->value >= 0x20 && !source::IsHidden(point->value);
    if (is_plain) {
      AppendUtf8(line, point->value);
    } else {
      line += '?';
    }
    text.remove_prefix(point ? point->bytes : 1);
  }
  return line;
}

class Writer {
 public:
  Writer(Draft& draft, const Options& options, Reading& reading)
      : draft_(draft), options_(options), reading_(reading) {}

  std::string Run(bool is_whole) {
    const DraftClass& first = draft_.classes.front();
    Comment(fmt::format("Imported from {}, {}.", reading_.sources.name(first.from().file),
                        reading_.shape));
    Comment("A name that begins with `fill_in` stands for what the source leaves out; the set is");
    Comment("valid when each is replaced. `curfew check` shows what is left.");
    text_ += "language 1\n\n";
    for (const DraftClass& one : draft_.classes) WriteClass(one, is_whole);
    Comment("The source does not say who may start a task: its owner may.");
    text_ +=
        "require create: caller.id == task.owner or task.owner in caller.groups\n"
        "  because \"only the owner, or someone of the owner's group, starts a task\"\n";
    return Formatted();
  }

 private:
  void Comment(std::string_view line) { text_ += fmt::format("# {}\n", CommentOf(line)); }

  void Put(const std::vector<Statement>& statements) {
    for (const Statement& statement : statements) {
      if (!statement.from.is_nowhere()) {
        const auto place = reading_.sources.PositionOf(statement.from.file, statement.from.begin);
        Comment(fmt::format("{}:{}", reading_.sources.name(statement.from.file), place.line));
      }
      for (const std::string& remark : statement.remarks) Comment(remark);
      if (!statement.text.empty()) text_ += statement.text + "\n";
    }
  }
  void Block(std::string_view plane, const std::vector<Statement>& statements) {
    if (statements.empty()) return;
    text_ += fmt::format("{} {{\n", plane);
    Put(statements);
    text_ += "}\n\n";
  }

  void WriteImage(const DraftClass& one) {
    text_ += fmt::format("image {}_image {{\n", one.name());
    if (!one.image_ref.empty()) text_ += fmt::format("ref {}\n", one.image_ref);
    if (options_.image_digest.empty()) {
      reading_.sink.Report(one.from(), diag::ImageLeftOut, one.name() + "_image");
      Comment("fill in: digest sha256:…");
    } else {
      text_ += fmt::format("digest {}\n", options_.image_digest);
    }
    text_ += "}\n\n";
  }

  void WriteClass(const DraftClass& one, bool is_whole) {
    WriteImage(one);
    Put({{one.from(), {}, {}}});
    text_ += fmt::format("sandbox {} by name {{\n", one.name());
    reading_.sink.Report(one.from(), diag::ExecLeftOut, one.name());
    Block("image", {{{}, {}, fmt::format("allow {}_image", one.name())},
                    {{},
                     {"the source does not say what may be started: without `exec` it is the "
                      "image's entry point only"},
                     {}}});
    Block("filesystem", one.filesystem);
    std::vector<Statement> network = one.network;
    if (one.reads_https) network.insert(network.begin(), {{}, {}, "tls inspect"});
    Block("network", network);
    std::vector<Statement> lifetime = one.lifetime;
    if (!one.has_ttl && !options_.ttl.empty()) {
      lifetime.insert(lifetime.begin(), {{}, {}, "ttl " + options_.ttl});
    } else if (!one.has_ttl) {
      reading_.sink.Report(one.from(), diag::LifetimeLeftOut, one.name());
      lifetime.insert(lifetime.begin(), {{}, {"fill in: ttl 1h at most 2h"}, {}});
    }
    Block("lifetime", lifetime);
    Put(one.rules);
    if (!is_whole) {
      Put({{{},
            {"fill in: something of the source was not read, as the import's errors say"},
            "require create: fill_in_what_was_not_read"}});
    }
    text_ += "}\n\n";
  }

  [[nodiscard]] std::string Formatted() {
    source::SourceMap written;
    diagnostics::Sink sink;
    const source::FileId file = written.Add({"imported", std::move(text_)});
    const syntax::TokenList tokens = syntax::Lex(written, file, sink);
    const syntax::Ast tree = syntax::Parse(tokens, sink);
    CURFEW_CHECK(!sink.has_errors(), sink.diagnostics().empty()
                                         ? std::string_view("what is written parses")
                                         : std::string_view(sink.diagnostics().front().message));
    return syntax::Format(tokens, tree);
  }

  Draft& draft_;
  const Options& options_;
  Reading& reading_;
  std::string text_;
};

}  // namespace

std::string Write(Draft& draft, const Options& options, Reading& reading) {
  // An error up to here is about something that is not in the draft.
  const auto& found = reading.sink.diagnostics();
  const bool is_whole = std::none_of(found.begin(), found.end(), [](const auto& diagnostic) {
    return diagnostic.code < diag::ImageLeftOut.code;
  });
  return Writer(draft, options, reading).Run(is_whole);
}

}  // namespace curfew::import

#include "runtime/keeper/exports.h"

#include "compiler/base/text.h"
#include "compiler/values/path.h"
#include "runtime/lifecycle/records.h"

#include <algorithm>

#include <fmt/format.h>

namespace curfew::keeper {

using evidence::RecordKind;
namespace slot = schema::slot;

namespace {

static_assert(ExportPatternsMax <= guest::PatternsMax);

// The folder that a pattern begins with, up to its first wildcard: "/work/out/" of "/work/out/**".
std::string_view LiteralFolder(std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  const std::string_view literal = pattern.substr(0, star);
  return literal.substr(0, literal.rfind('/') + 1);
}

}  // namespace

bool Exports::Begin(std::uint32_t id, ExportMessage message) {
  if (busy_ || message.patterns.empty() || message.patterns.size() > ExportPatternsMax) {
    return false;
  }
  busy_ = true;
  id_ = id;
  patterns_ = std::move(message.patterns);
  exported_ = 0;
  listing_fault_.clear();
  desk_.lifetime.Begin();
  for (const std::string& pattern : patterns_) {
    const values::Parsed<values::PathGlob> glob = values::ParseFileGlob(pattern);
    if (glob) continue;
    Finish(fmt::format("the pattern {}: {}", Printable(pattern, 60), glob.error().message));
    return true;
  }
  guest::Session* session = desk_.driver.session();
  if (session == nullptr || session->failure()) {
    Finish("the sandbox is not there any more");
    return true;
  }
  session->ListFiles(patterns_, [this](Result<guest::Files> listed) {
    if (!listed) return Finish(listed.error().message);
    files_.assign(listed->files.begin(), listed->files.end());
    if (listed->end.truncated) listing_fault_ = "there are more files than one export may have";
    if (listed->end.unreadable > 0) {
      listing_fault_ = Counted(listed->end.unreadable, "folder") + " could not be read";
    }
    Next();
  });
  return true;
}

std::string Exports::NameOf(const std::string& path) const {
  std::string_view best;
  for (const std::string& pattern : patterns_) {
    const std::string_view folder = LiteralFolder(pattern);
    if (path.starts_with(folder) && folder.size() > best.size()) best = folder;
  }
  const std::size_t skip = std::max<std::size_t>(best.size(), 1);
  return path.size() > skip ? path.substr(skip) : path;
}

void Exports::Next() {
  while (!files_.empty()) {
    const guest::File file = files_.front();
    files_.pop_front();
    std::uint64_t total = 0;
    if (__builtin_add_overflow(total_bytes_, file.bytes, &total)) total = UINT64_MAX;
    Result<module::DecodedRequest> asked = desk_.questions.AskExport(file, total, desk_.facts());
    gate::Decision<schema::Action::Export> decision;
    if (asked) {
      decision = desk_.gate.Decide<schema::Action::Export>(asked->request);
    } else {
      decision.answer = desk_.gate.Refuse(schema::Action::Export, asked.error().message);
    }
    desk_.TellDecision(id_, decision.answer, file.path);
    if (decision.permit && Fetch(*std::move(decision.permit), file)) return;
  }
  Finish(listing_fault_);
}

bool Exports::Fetch(gate::Permit<schema::Action::Export> permit, const guest::File& file) {
  file_ = file;
  write_failure_.reset();
  target_.reset();
  if (permit.facts().Text(slot::ExportPath) != file.path ||
      permit.facts().Integer(slot::ExportSize) != static_cast<std::int64_t>(file.bytes)) {
    Report(file, {}, "another file was judged");
    return false;
  }
  Result<host::ExportFile> target = directory_.Create(NameOf(file.path));
  if (!target) {
    Report(file, {}, target.error().message);
    return false;
  }
  target_.emplace(*std::move(target));
  fetch_ = desk_.driver.session()->FetchFile(
      file, {.on_data = [this](ByteView data) { OnData(data); },
             .on_end = [this](const Outcome& outcome) { OnEnd(outcome); }});
  return true;
}

void Exports::OnData(ByteView data) {
  if (!write_failure_) {
    const Outcome written = target_->Write(data);
    if (!written) write_failure_ = written.error();
  }
  if (guest::Session* session = desk_.driver.session()) {
    session->Consumed(fetch_, guest::Stream::File, data.size());
  }
}

void Exports::OnEnd(const Outcome& outcome) {
  if (!outcome || write_failure_) {
    target_.reset();
    Report(file_, {}, write_failure_ ? write_failure_->message : outcome.error().message);
  } else {
    Result<Digest> digest = target_->Finish();
    Outcome recorded = Ok();
    if (digest) {
      recorded = desk_.books.Append(
          RecordKind::Export,
          lifecycle::Exported(
              {.name = NameOf(file_.path), .bytes = target_->bytes(), .digest = *digest}));
      // What is not on record has not left.
      if (!recorded) target_->Withdraw();
    } else {
      recorded = digest.error();
    }
    target_.reset();
    if (recorded) {
      ++exported_;
      total_bytes_ += file_.bytes;
      Report(file_, ToString(*digest), {});
    } else {
      Report(file_, {}, recorded.error().message);
    }
  }
  desk_.checkpoint("exported");
  if (const guest::Session* session = desk_.driver.session(); session && session->failure()) {
    return Finish(session->failure()->message);
  }
  Next();
}

void Exports::Report(const guest::File& file, std::string digest, std::string failure) {
  desk_.control.Tell(id_, ExportedMessage{.path = file.path,
                                          .name = NameOf(file.path),
                                          .bytes = file.bytes,
                                          .digest = std::move(digest),
                                          .failure = std::move(failure)});
}

void Exports::Finish(std::string failure) {
  busy_ = false;
  files_.clear();
  desk_.lifetime.End();
  desk_.control.Tell(id_, ExportEndMessage{.files = exported_, .failure = std::move(failure)});
}

}  // namespace curfew::keeper

#include "compiler/values/quantity.h"
#include "runtime/client/native_code.h"
#include "runtime/client/run_view.h"

#include <fmt/format.h>

namespace curfew::client {
namespace {

constexpr int WordWidth = 8;

class TextView final : public RunView {
 public:
  TextView(Console& console, const host::Clock& clock, bool quiet)
      : console_(console), clock_(clock), quiet_(quiet) {}

  void Began(const std::string& sandbox, const std::string& task) override {
    Say("sandbox", fmt::format("{} for the task {}", sandbox, Printable(task)));
  }

  void Decided(const keeper::DecidedMessage& decision) override {
    const std::string subject = Printable(decision.subject, 300);
    if (decision.allowed) {
      std::string by;
      for (const gate::Reason& reason : decision.reasons) {
        by += (by.empty() ? "" : ", ") + reason.id;
      }
      return Say("allow", fmt::format("{} {}, by {}", decision.action, subject, by));
    }
    for (const gate::Reason& reason : decision.reasons) {
      Warn("DENY", fmt::format("{} {}, by {}", decision.action, subject,
                               Printable(Describe(reason), 1000)));
    }
  }

  void Step(const keeper::StepMessage& step) override {
    if (!step.done) {
      step_ms_ = clock_.MonotonicNowMs();
      return;
    }
    Say("", fmt::format("{} ({})", step.detail, Seconds(clock_.MonotonicNowMs() - step_ms_)));
  }

  void Ready(const keeper::ReadyMessage& ready) override {
    Say("ready", fmt::format("after {}, until {}", Seconds(ready.boot_ms),
                             host::Rfc3339(ready.deadline_ms)));
    if (!ready.why_not_native.empty() && ready.why_not_native != NothingGoesOut) {
      Warn("warning", fmt::format("the interpreter decides, slower and not otherwise: {}",
                                  Printable(ready.why_not_native, 1000)));
    }
    if (ready.isolation != "kvm") {
      Warn("warning",
           "this machine is emulated, because KVM cannot be used here: emulation is no security "
           "boundary");
    }
  }

  void Command(const std::vector<std::string>& argv) override {
    std::string text;
    for (const std::string& argument : argv) {
      text += (text.empty() ? "" : " ") + Printable(argument, 80);
    }
    Say("run", text);
  }

  void Output(bool is_error, ByteView data) override {
    if (is_error) {
      console_.Err(AsText(data));
    } else {
      console_.Out(AsText(data));
      console_.Flush();
    }
    at_line_start_ = data.empty() ? at_line_start_ : data.back() == '\n';
  }

  void Exited(const keeper::ExitedMessage& exited) override {
    if (exited.timed_out) return Warn("exit", "its time-out ended it");
    if (exited.signal) return Warn("exit", fmt::format("ended by signal {}", *exited.signal));
    if (exited.status) return Say("exit", fmt::format("status {}", *exited.status));
    if (!exited.failure.empty()) Warn("exit", "it did not run: " + Printable(exited.failure, 1000));
  }

  void Exported(const keeper::ExportedMessage& file) override {
    if (!file.failure.empty()) {
      return Warn("export", fmt::format("{} could not leave: {}", Printable(file.path),
                                        Printable(file.failure, 1000)));
    }
    Say("export",
        fmt::format("{}, {}, {}", Printable(file.name),
                    values::SizeText(static_cast<std::int64_t>(file.bytes)), file.digest));
  }

  void ExportEnded(const keeper::ExportEndMessage& end) override {
    if (!end.failure.empty()) Warn("export", "is not whole: " + Printable(end.failure, 1000));
  }

  void Ending(const keeper::EndingMessage& ending) override {
    Warn("end", fmt::format("{}: {}", NameOf(ending.why), Printable(ending.detail, 4000)));
  }

  void Failed(const std::string& message) override { Warn("failed", message); }

  void Interrupted() override { Warn("end", "interrupted: closing in order; once more to hurry"); }

  void Closed(const evidence::Verification& verification, const std::string& path) override {
    if (verification.receipt && !quiet_) {
      console_.Err("\n" + evidence::RenderReceipt(*verification.receipt) + "\n");
    }
    if (quiet_ && verification.standing == evidence::Standing::Valid) return;
    console_.Err(evidence::RenderVerification(verification));
    Say("receipt", path);
  }

 private:
  void Say(std::string_view word, std::string_view text) {
    if (!quiet_) Line(word, text);
  }
  void Warn(std::string_view word, std::string_view text) { Line(word, text); }

  void Line(std::string_view word, std::string_view text) {
    const bool colour = console_.colour_diagnostics();
    const bool is_denial = word == "DENY" || word == "failed" || word == "warning";
    console_.Err(fmt::format("{}{}{:>{}}{} {}\n", at_line_start_ ? "" : "\n",
                             colour ? (is_denial ? "\x1b[1;31m" : "\x1b[1m") : "", word, WordWidth,
                             colour ? "\x1b[0m" : "", text));
    at_line_start_ = true;
  }

  static std::string Seconds(std::int64_t ms) {
    return fmt::format("{}.{:02} s", ms / 1000, ms % 1000 / 10);
  }

  Console& console_;
  const host::Clock& clock_;
  bool quiet_;
  std::int64_t step_ms_ = 0;
  bool at_line_start_ = true;
};

}  // namespace

std::unique_ptr<RunView> MakeTextView(Console& console, const host::Clock& clock, bool quiet) {
  return std::make_unique<TextView>(console, clock, quiet);
}

}  // namespace curfew::client

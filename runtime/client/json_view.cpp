#include "runtime/client/run_view.h"

namespace curfew::client {
namespace {

using evidence::Json;

class JsonView final : public RunView {
 public:
  explicit JsonView(Console& console) : console_(console) {}

  void Began(const std::string& sandbox, const std::string& task) override {
    Line("began", {{"version", 1}, {"sandbox", sandbox}, {"task", task}});
  }
  void Decided(const keeper::DecidedMessage& message) override {
    Line("decided", message.ToJson());
  }
  void Step(const keeper::StepMessage& message) override { Line("step", message.ToJson()); }
  void Ready(const keeper::ReadyMessage& message) override { Line("ready", message.ToJson()); }
  void Command(const std::vector<std::string>& argv) override { Line("command", {{"argv", argv}}); }
  void Output(bool is_error, ByteView data) override {
    Line("output",
         {{"stream", is_error ? "stderr" : "stdout"}, {"data", std::string(AsText(data))}});
  }
  void Exited(const keeper::ExitedMessage& message) override { Line("exited", message.ToJson()); }
  void Exported(const keeper::ExportedMessage& message) override {
    Line("exported", message.ToJson());
  }
  void ExportEnded(const keeper::ExportEndMessage& message) override {
    Line("export_ended", message.ToJson());
  }
  void Ending(const keeper::EndingMessage& message) override { Line("ending", message.ToJson()); }
  void Failed(const std::string& message) override { Line("failed", {{"message", message}}); }
  void Interrupted() override { Line("interrupted", Json::object()); }
  void Closed(const evidence::Verification& verification, const std::string& path) override {
    Json facts = {{"receipt", path}, {"standing", std::string(NameOf(verification.standing))}};
    if (verification.receipt) {
      facts["verdict"] = std::string(NameOf(verification.receipt->verdict()));
    }
    Line("closed", std::move(facts));
  }

 private:
  // What is no UTF-8 stands as {"base64": …}, as in the records.
  void Line(const char* event, Json facts) {
    facts["event"] = event;
    const Result<std::string> text = evidence::Canonical(facts);
    if (!text) return;
    console_.Out(*text + "\n");
    console_.Flush();
  }

  Console& console_;
};

}  // namespace

std::unique_ptr<RunView> MakeJsonView(Console& console) {
  return std::make_unique<JsonView>(console);
}

}  // namespace curfew::client

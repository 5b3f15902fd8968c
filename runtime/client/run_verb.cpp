#include "compiler/module/policy_module.h"
#include "runtime/client/conversation.h"
#include "runtime/client/native_code.h"
#include "runtime/client/station.h"
#include "runtime/client/verbs.h"
#include "runtime/evidence/verify.h"
#include "runtime/host/linux/export_directory.h"
#include "runtime/host/linux/sealed_memory.h"
#include "runtime/keeper/resolver_place.h"

#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace curfew::client {
namespace {

constexpr std::size_t TaskBytesMax = 4 * 1024 * 1024;

// The folder of --out, made if it is not there. Whatever would keep an export from it is found
// here, before anything boots: a name that is taken, a folder that cannot be written.
Result<OwnedFd> OpenEmptyFolder(const std::string& path) {
  const std::string what = "--out " + path;
  if (mkdir(path.c_str(), 0755) != 0 && errno != EEXIST) {
    const bool no_parent = errno == ENOENT;
    Failure failure = SystemFailure(errno, what + ": the folder cannot be made");
    if (!no_parent) return failure;
    return Failure(failure.code, what +
                                     ": the folder that it is to stand in is not there; make it "
                                     "first");
  }
  CURFEW_TRY(OwnedFd folder, host::ExportDirectory::Open(path));
  if (faccessat(folder.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return SystemFailure(errno, what + ": nothing can be written there");
  }
  DIR* entries = opendir(path.c_str());
  if (entries == nullptr) return SystemFailure(errno, what + ": cannot be read");
  bool is_empty = true;
  while (const dirent* entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    is_empty = is_empty && (name == "." || name == "..");
  }
  closedir(entries);
  if (is_empty) return folder;
  return Failure(FailureCode::AlreadyExists,
                 what +
                     ": the folder is not empty, and an export never replaces a file; name "
                     "another, or take away what is in it");
}

class RunVerb final : public Verb {
 public:
  explicit RunVerb(const Means& means) : means_(means) {}

  [[nodiscard]] std::string_view name() const override { return "run"; }
  [[nodiscard]] std::string_view summary() const override {
    return "run a task in a sandbox of its own, and end everything with a receipt";
  }
  [[nodiscard]] std::string_view example() const override {
    return "Every step is asked of the policy set first. The task's output goes to standard output "
           "and error as\nit comes; what curfew says goes to standard error (with --format json, "
           "all of it to standard\noutput, one object a line). The task file is described by "
           "task.schema.json.\n"
           "exit status: the task's own (of its last command that failed); 124 its time was over, "
           "125 curfew\ncould not run it, 126 policy denied it, 130 interrupted\n\n"
           "example:\n  curfew run policies/ images.curfew --task task.json --image build/image "
           "--out results";
  }

  void Configure(CLI::App& app) override {
    app.add_option("POLICY", policies_, "files and folders of the policy set, or a bundle")
        ->required();
    app.add_option("--root", root_, std::string(RootHelp));
    app.add_option("--trust", trusted_keys_, std::string(TrustHelp))->allow_extra_args(false);
    app.add_option("--task", task_, "the task, a JSON file")->required();
    app.add_option("--image", image_,
                   "the folder of the image (default: `image` in the state directory)");
    app.add_option(
        "--out", out_,
        "the folder for exports, empty, or made if it is not there (default: with the receipt)");
    app.add_option(
        "--dial-from", dial_from_,
        "the network namespace that the gateway dials from, as the path of one (default: "
        "this host's own)");
    app.add_option("--resolver", resolvers_,
                   "whom the gateway asks for allowed names, ADDRESS or ADDRESS:PORT; repeatable "
                   "(default: this host's own)")
        ->allow_extra_args(false);
    app.add_option("--state", state_, std::string(StateHelp));
    app.add_option("--format", format_, "text or json")->check(CLI::IsMember({"text", "json"}));
    app.add_flag("--quiet", quiet_, "say only what did not go as it should");
  }

  int Run(Console& console) override {
    const Result<int> status = Start(console);
    if (status) return *status;
    console.Complain(status.error().message);
    return exit_status::TaskCouldNotRun;
  }

 private:
  Result<int> Start(Console& console) {
    CURFEW_TRY(const std::string text, host::ReadText(means_.files, task_, TaskBytesMax));
    Result<Task> task = ReadTask(text);
    if (!task) return std::move(task).error().In(task_);
    std::vector<OwnedFd> inputs(task->commands.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const std::optional<std::string>& name = task->commands[i].stdin_file;
      if (!name) continue;
      CURFEW_TRY(inputs[i], OpenBeside(task_, *name));
    }
    for (const std::string& resolver : resolvers_) {
      CURFEW_TRY_VOID(keeper::ParseResolver(resolver));
    }
    CURFEW_TRY(const OwnedFd dial_from, OpenDialFrom());
    CURFEW_TRY(const Bytes module, means_.open_policy(policies_, trusted_keys_, root_));
    CURFEW_TRY_VOID(ResolveImage(module, *task));
    CURFEW_TRY(const std::unique_ptr<Station> station, Station::Open(means_, state_));
    CURFEW_TRY(const lifecycle::SweepReport swept, station->Sweep(console, false));
    static_cast<void>(swept);
    return Talk(console, *station, module, *task, std::move(inputs), dial_from.get());
  }

  // create.image as a digest: the policy set's own names are read from its module.
  static Outcome ResolveImage(const Bytes& bytes, Task& task) {
    if (ParseDigest(task.image)) {
      task.request["create"]["image"] = task.image;
      return Ok();
    }
    CURFEW_TRY(const module::PolicyModule policy, module::PolicyModule::Load(bytes, 1));
    std::string names;
    for (module::ClassIndex i = 0; i < policy.class_count(); ++i) {
      for (const module::ImageGrant& grant : policy.plan(i).images) {
        if (grant.name == task.image) {
          task.request["create"]["image"] = ToString(grant.digest);
          return Ok();
        }
        names += (names.empty() ? "" : ", ") + grant.name;
      }
    }
    return Failure(FailureCode::NotFound,
                   fmt::format("no class of the policy set allows an image named {}; it allows {}",
                               Printable(task.image, 60), names.empty() ? "none" : names));
  }

  // Those that the first message brings: the first two always.
  static std::vector<int> Descriptors(int module, int folder, int native_code, int dial_from) {
    std::vector<int> descriptors = {module, folder};
    if (native_code >= 0) descriptors.push_back(native_code);
    if (dial_from >= 0) descriptors.push_back(dial_from);
    return descriptors;
  }

  // Nothing is opened where nothing is asked for.
  [[nodiscard]] Result<OwnedFd> OpenDialFrom() const {
    if (dial_from_.empty()) return OwnedFd();
    OwnedFd opened(open(dial_from_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened.is_open()) return SystemFailure(errno, "--dial-from " + dial_from_);
    if (ioctl(opened.get(), NS_GET_NSTYPE) != CLONE_NEWNET) {
      return Failure(FailureCode::Usage, "--dial-from " + Printable(dial_from_) +
                                             ": no network namespace; one is /proc/PID/ns/net, or "
                                             "what `ip netns add` makes below /run/netns");
    }
    return opened;
  }

  Result<OwnedFd> OpenOut(const Station& station, const std::string& id) const {
    if (out_.empty()) {
      CURFEW_TRY_VOID(means_.files.MakeDirectory(station.state().Sandbox(id), 0700));
      CURFEW_TRY_VOID(means_.files.MakeDirectory(station.state().Exports(id), 0700));
      return host::ExportDirectory::Open(station.state().Exports(id));
    }
    return OpenEmptyFolder(out_);
  }

  Result<int> Talk(Console& console, Station& station, const Bytes& module, const Task& task,
                   std::vector<OwnedFd> inputs, int dial_from) {
    keeper::CreateMessage create;
    CURFEW_TRY(create.sandbox, host::DrawIncarnation(means_.entropy));
    create.state = station.state().root;
    CURFEW_TRY(create.image_directory, Absolute(image_.empty() ? create.state + "/image" : image_));
    create.request = task.request;
    create.caller = task.caller;
    create.dials_elsewhere = dial_from >= 0;
    create.resolvers = resolvers_;
    CURFEW_TRY(const OwnedFd memory, host::SealBytes("curfew-module", module));
    const Result<OwnedFd> native_code = NativeCodeFor(means_, station.state(), module);
    if (!native_code) create.no_native_code = native_code.error().message;
    const int code = native_code ? native_code->get() : -1;
    CURFEW_TRY(const OwnedFd folder, OpenOut(station, create.sandbox.id));
    CURFEW_TRY(const std::unique_ptr<KeeperLink> link, KeeperLink::Start(means_.keeper_program));

    const std::unique_ptr<RunView> view =
        format_ == "json" ? MakeJsonView(console) : MakeTextView(console, means_.clock, quiet_);
    view->Began(create.sandbox.id, task.id);
    const RunOutcome outcome =
        Conversation(means_.clock, *link, *view)
            .Hold(create, Descriptors(memory.get(), folder.get(), code, dial_from), task,
                  std::move(inputs));
    std::string errors;
    const int keeper_status = link->Wait(errors);
    if (!errors.empty()) view->Failed("the keeper said: " + Printable(errors, 4000));
    if (!outcome.closed || keeper_status != 0) {
      CURFEW_TRY(const lifecycle::SweepReport swept, station.Sweep(console, false));
      static_cast<void>(swept);
    }
    return Settle(station, *view, create.sandbox.id, outcome);
  }

  // The receipt as it stands on the disk decides, not what the keeper said.
  int Settle(Station& station, RunView& view, const std::string& id, const RunOutcome& outcome) {
    const host::StateDirectory& state = station.state();
    const Result<store::Sandbox> sandbox = station.store().FindById(id);
    if (!sandbox && sandbox.error().code == FailureCode::NotFound) {
      // It never came to be: the folder that was made for its exports is all there is of it.
      static_cast<void>(means_.files.RemoveTree(state.Sandbox(id)));
      return exit_status::TaskCouldNotRun;
    }
    const evidence::Verification verification =
        evidence::Verify(means_.files, {.receipt_path = state.Receipt(id),
                                        .chain_path = state.Records(id),
                                        .heads_path = state.Heads(),
                                        .key_path = state.ReceiptPublicKey(),
                                        .key_pinned = false,
                                        .sandbox_id = id,
                                        .witnessed = std::nullopt});
    view.Closed(verification, state.Receipt(id));
    const bool proven = verification.standing == evidence::Standing::Valid &&
                        verification.receipt->verdict() == evidence::Cleanness::Clean;
    return outcome.status == 0 && !proven ? exit_status::TaskCouldNotRun : outcome.status;
  }

  static Result<std::string> Absolute(const std::string& path) {
    char* resolved = realpath(path.c_str(), nullptr);
    if (resolved == nullptr) {
      return SystemFailure(errno, "find the image folder " + path +
                                      " (--image names it; ./bootstrap build makes one)");
    }
    std::string absolute = resolved;
    std::free(resolved);
    return absolute;
  }

  const Means& means_;
  std::vector<std::string> policies_;
  std::vector<std::string> trusted_keys_;
  std::string root_;
  std::string task_;
  std::string image_;
  std::string out_;
  std::string dial_from_;
  std::vector<std::string> resolvers_;
  std::string state_{host::StateDirectoryDefault};
  std::string format_ = "text";
  bool quiet_ = false;
};

}  // namespace

std::unique_ptr<Verb> MakeRunVerb(const Means& means) { return std::make_unique<RunVerb>(means); }

}  // namespace curfew::client

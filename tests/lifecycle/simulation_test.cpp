// The life of a sandbox on a simulated host, with something going wrong at every place where it
// can: each step fails, the keeper dies at each moment, the sweep dies too, the disk fills up or
// breaks at each write, somebody interrupts before each step. Whatever happens, nothing is left,
// and the receipt holds and says so.
#include "compiler/interpret/interpreter.h"
#include "compiler/tool/compile_set.h"
#include "runtime/evidence/verify.h"
#include "runtime/gate/gate.h"
#include "runtime/host/linux/linux_host.h"
#include "runtime/lifecycle/lifetime_watch.h"
#include "runtime/lifecycle/sweep.h"
#include "tests/fakes/fake_host.h"
#include "tests/fakes/faulty_files.h"
#include "tests/fakes/places.h"
#include "tests/lifecycle/simulated_host.h"

#include <cstdlib>
#include <fstream>
#include <random>

#include <catch2/catch.hpp>
#include <fmt/format.h>

namespace curfew::lifecycle {
namespace {

using fakes::Crash;
using fakes::FaultyFiles;
using Fault = FaultyFiles::Fault;
using schema::Action;
namespace slot = schema::slot;

constexpr const char* Policy = R"(language 1
package tests.simulation

image python311 {
  digest sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
}

sandbox work when task.kind == "work" {
  image {
    allow     python311
    exec      any
    size      cpu 1, memory 256MiB
    isolation any
  }
  identity { token audience "bridge" lives 5m }
  filesystem { scratch "/work" 64MiB }
  network { allow GET "http://files.example/**" }
  lifetime {
    ttl   10m
    grace 5s
  }
}
)";

// Everything that all lives share: the decision to create, compiled and asked once.
class Shared {
 public:
  Shared() {
    const std::string path = directory_.path() + "/simulation.curfew";
    std::ofstream(path) << Policy;
    const std::vector<std::string> paths = {path};
    Result<Bytes> compiled = tool::CompileModule(paths);
    REQUIRE(compiled);
    bytes_ = *std::move(compiled);
    Result<module::PolicyModule> policy = module::PolicyModule::Load(bytes_, 1);
    REQUIRE(policy);
    engine_ = std::make_unique<interpret::Interpreter>(*std::move(policy));
  }

  gate::Permit<Action::Create> Allow() {
    struct Sink final : gate::DecisionSink {
      Outcome Record(const gate::Answer&, const module::Request*) override { return Ok(); }
    } sink;
    module::Request request(Action::Create);
    request.SetNow(1'770'000'000'000);
    request.SetText(slot::CallerId, "user:root");
    request.SetInteger(slot::CallerKind, 0);
    request.Set(slot::CallerGroups, module::Value::OfItems({}));
    request.SetInteger(slot::CallerOperator, 1);
    request.SetText(slot::TaskId, "t");
    request.SetText(slot::TaskOwner, "user:root");
    request.SetText(slot::TaskTeam, "x");
    request.SetText(slot::TaskKind, "work");
    request.SetInteger(slot::TaskTrigger, 0);
    const module::Value words[] = {module::Value::OfText("egress"),
                                   module::Value::OfText("emulation")};
    request.Set(slot::HostCapabilities, module::Value::OfItems(words));
    const Digest image = engine_->module().plan(0).images.front().digest;
    request.SetDigest(slot::CreateImage, image);
    for (const schema::Slot absent :
         {slot::CreateClass, slot::CreateImageRef, slot::CreateCpu, slot::CreateMemory,
          slot::CreateDisk, slot::CreateTtl, slot::CreatePersist, slot::CreateSecrets,
          slot::CreateEnv, slot::CreateIsolation}) {
      request.SetAbsent(absent);
    }
    request.SetInteger(slot::CreateRunning, 1);
    const gate::PolicyInForce in_force(*engine_);
    gate::Decision<Action::Create> decision =
        gate::Gate(in_force, sink).Decide<Action::Create>(request);
    for (const gate::Reason& reason : decision.answer.reasons) INFO(gate::Describe(reason));
    REQUIRE(decision.permit.has_value());
    return *std::move(decision.permit);
  }

  const module::PolicyModule& policy() const { return engine_->module(); }

 private:
  fakes::TemporaryDirectory directory_;
  Bytes bytes_;
  std::unique_ptr<interpret::Interpreter> engine_;
};

constexpr std::uint64_t LivesPerState = 6;

// What goes wrong in one life.
struct Trouble {
  std::optional<std::size_t> step_fails;
  bool with_something = false;
  std::optional<std::size_t> interrupted_before;
  std::optional<std::uint64_t> keeper_dies_at;  // the n-th checkpoint, from 1
  std::optional<std::uint64_t> sweep_dies_at;
  Fault fault = Fault::None;
  std::uint64_t fault_at = 0;
  bool rebooted = false;      // before the sweep
  bool nobody_waits = false;  // for the dead: they stay in the process table
  // At that checkpoint the keeper stops and does nothing any more, but lives.
  std::optional<std::uint64_t> keeper_stops_at;
  bool watchdog_works = true;  // and has killed the machine by the time of the sweep
};

class Simulation {
 public:
  explicit Simulation(Shared& shared) : shared_(shared), files_(*host_.files) {}

  // Lives one life, and checks what must be true after it.
  void Live(const Trouble& trouble) {
    if (lives_++ % LivesPerState == 0) Move();
    sandbox_ = *host::DrawIncarnation(*host_.entropy);
    keeper_ += 10;
    checkpoints_ = 0;
    dies_at_ = trouble.keeper_dies_at;
    clock_.monotonic_ms = 1000;  // each keeper begins with a boot
    stops_at_ = trouble.keeper_stops_at;
    machine_.alive.insert(keeper_);
    machine_.nobody_waits = trouble.nobody_waits;
    files_.Plan(trouble.fault, trouble.fault_at);
    bool died = false;
    try {
      Keep(trouble);
    } catch (const Crash&) {
      died = true;
    }
    files_.Plan(Fault::None, 0);
    seen_ = std::max(seen_, checkpoints_);
    if (died && stops_at_) {
      TimePasses(trouble);
    } else {
      machine_.Die(keeper_);
    }
    if (trouble.rebooted) Reboot();
    const std::string receipt = ReceiptText();
    if (!Find() || store::IsOpen(Find()->state)) SweepUntilDone(trouble);
    // One that stands is never written over, or it is not the last.
    if (!receipt.empty()) CHECK(ReceiptText() == receipt);
    CheckNothingIsLeft(died);
    if (died && stops_at_) CheckOverdue(trouble);
  }

  // A life whose end nobody could see whole, and two later looks: as blind, and seeing.
  void LiveInQuarantine() {
    Move();
    machine_.search_is_blind = true;
    keeper_ += 10;
    sandbox_ = *host::DrawIncarnation(*host_.entropy);
    Keep({});
    REQUIRE(Find()->state == store::SandboxState::Quarantined);
    const std::string first = ReceiptText();
    CHECK(Verify().receipt->verdict() == evidence::Cleanness::Unknown);
    LookAgain();
    CHECK(Find()->state == store::SandboxState::Quarantined);
    CHECK(ReceiptText() == first);
    machine_.search_is_blind = false;
    LookAgain();
    CheckNothingIsLeft(false);
    CHECK(Verify().receipt->supersedes == Sha256(AsBytes(first)));
    const std::string second = ReceiptText();
    LookAgain();
    CHECK(ReceiptText() == second);
  }

  [[nodiscard]] std::uint64_t checkpoints() const { return seen_; }
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

 private:
  std::string ReceiptText() {
    Result<std::string> text =
        host::ReadText(*host_.files, state_.Receipt(sandbox_.id), evidence::ReceiptBytesMax);
    return text ? *std::move(text) : std::string();
  }

  evidence::Verification Verify() {
    return evidence::Verify(*host_.files, {.receipt_path = state_.Receipt(sandbox_.id),
                                           .chain_path = state_.Records(sandbox_.id),
                                           .heads_path = state_.Heads(),
                                           .key_path = state_.ReceiptPublicKey(),
                                           .key_pinned = false,
                                           .sandbox_id = sandbox_.id,
                                           .witnessed = std::nullopt});
  }

  SweepTools Tools() {
    return {.office = OfficeFor(true),
            .remove_cgroups = [this](const std::string& id) { return machine_.RemoveCgroups(id); },
            .pause = [](std::int64_t) {}};
  }

  void LookAgain() {
    Result<SweepReport> report = Sweep(Tools(), true);
    REQUIRE(report);
    for (const Failure& failure : report->failures) FAIL_CHECK(failure.message);
  }

  // While a stopped keeper has time left nobody touches it. Then it has none.
  void TimePasses(const Trouble& trouble) {
    const std::optional<store::Sandbox> row = Find();
    if (!row || !store::IsOpen(row->state)) return machine_.Die(keeper_);
    const std::set<pid_t> alive = machine_.alive;
    LookAgain();
    CHECK(Find()->state == row->state);
    CHECK(machine_.alive == alive);
    const std::optional<std::int64_t> left_ms = TimeLeftMs(clock_, *row);
    clock_.Advance(left_ms ? *left_ms + row->grace_ms + EndMarginMs + KeeperMarginMs
                           : UndecidedMaxMs - clock_.MonotonicNowMs());
    CHECK_FALSE(IsOverdue(clock_, *row));
    clock_.Advance(60'000);
    CHECK(IsOverdue(clock_, *row));
    if (trouble.watchdog_works) machine_.Die(keeper_ + 1);
  }

  void CheckOverdue(const Trouble& trouble) {
    const std::optional<store::Sandbox> row = Find();
    const evidence::Receipt receipt = *Verify().receipt;
    if (receipt.keeper_note.empty()) return;  // its receipt was on the disk before it stopped
    // A sweep that came after one that died met a keeper that was dead.
    if (!trouble.sweep_dies_at) CHECK(receipt.keeper_note == KeeperOverdue);
    CHECK(receipt.deadline_ms == row->deadline_ms);
    // What it had given back before it stopped was on time.
    const bool held = receipt.ended_ms == clock_.WallNowMs();
    CHECK(receipt.is_late() == (held && row->deadline_ms.has_value()));
    if (held && row->deadline_ms)
      CHECK(receipt.overrun_ms() == 60'000 + EndMarginMs + KeeperMarginMs);
  }

  // Another state directory: a receipt is verified against all heads of its host, so that many
  // lives in one would take the square of their number.
  void Move() {
    state_.root = directory_.path() + fmt::format("/state-{}", lives_);
    REQUIRE(state_.Prepare(*host_.files));
    store_ = std::make_unique<store::Store>(*store::Store::Open(state_.Database()));
    key_ = std::make_unique<evidence::SigningKey>(*evidence::SigningKey::LoadOrCreate(
        *host_.files, *host_.entropy, state_.ReceiptKey(), state_.ReceiptPublicKey()));
  }

  Office OfficeFor(bool sweeping) {
    return {
        .files = files_,
        .processes = machine_,
        .clock = clock_,
        .state = state_,
        .store = *store_,
        .key = *key_,
        .search = [this](const evidence::ResidueQuery& query) { return machine_.Search(query); },
        .checkpoint = [this, sweeping](std::string_view) { Pass(sweeping); }};
  }

  void Pass(bool sweeping) {
    std::uint64_t& count = sweeping ? sweep_checkpoints_ : checkpoints_;
    const std::optional<std::uint64_t>& at = sweeping ? sweep_dies_at_ : dies_at_;
    ++count;
    if (count == at || (!sweeping && count == stops_at_)) throw Crash();
  }

  std::optional<store::Sandbox> Find() {
    Result<store::Sandbox> found = store_->Find(sandbox_);
    return found ? std::optional(*std::move(found)) : std::nullopt;
  }

  // The keeper's line, as runtime/keeper has it, with simulated steps.
  void Keep(const Trouble& trouble) {
    store::Sandbox row;
    row.incarnation = sandbox_;
    row.sandbox_class = "work";
    row.owner = row.creator = "user:root";
    row.task_id = "t";
    row.created_ms = clock_.WallNowMs();
    row.boot_id = clock_.BootId();
    row.keeper = host::ProcessIdentity{.pid = keeper_, .start_ticks = 1};
    row.policy_digest = ToString(shared_.policy().manifest().policy);
    row.image_digest = ToString(shared_.policy().plan(0).images.front().digest);
    REQUIRE(store_->Create(row));
    Pass(false);
    Result<Books> books = Books::Open(OfficeFor(false), sandbox_);
    if (!books) return;  // the disk said no: nothing was begun
    gate::Permit<Action::Create> permit = shared_.Allow();
    Result<plan::Plan> plan = plan::Draft(permit, shared_.policy().plan(0),
                                          {.sandbox = sandbox_,
                                           .wall_ms = clock_.WallNowMs(),
                                           .monotonic_ms = clock_.MonotonicNowMs(),
                                           .capabilities = {"egress", "emulation"}});
    REQUIRE(plan);
    REQUIRE(store_->SetState(sandbox_, store::SandboxState::Admitted));
    SimulatedDriver driver(machine_, *store_, sandbox_, keeper_, clock_.WallNowMs());
    driver.fails_at = trouble.step_fails;
    driver.fails_with_something = trouble.with_something;
    std::size_t step = 0;
    execute::Executor executor(
        driver, *books, [this](std::string_view) { Pass(false); },
        {.on_begin = nullptr, .on_done = nullptr, .may_go_on = [&]() -> Outcome {
           if (step++ != trouble.interrupted_before) return Ok();
           return Failure(FailureCode::Interrupted, "interrupted");
         }});
    const Outcome created = executor.Create(std::move(permit), *plan);
    const bool ran = created && store_->SetState(sandbox_, store::SandboxState::Running);
    if (ran) Pass(false);
    books->BeginClosing(ran ? "done" : "failed");
    executor.End();
    CHECK_FALSE(machine_.cgroups.contains("/sys/fs/cgroup/memory/curfew/" + sandbox_.id));
    static_cast<void>(books->Close({}, {}));
    changes_ = std::max(changes_, files_.changes());
  }

  // After a reboot no kernel object is there, and the boot has another name.
  void Reboot() {
    machine_.alive.clear();
    machine_.cgroups.clear();
    machine_.members.clear();
    machine_.networks.clear();
    clock_.boot_id[0] = clock_.boot_id[0] == '1' ? '2' : '1';
  }

  void SweepUntilDone(const Trouble& trouble) {
    sweep_dies_at_ = trouble.sweep_dies_at;
    for (int attempt = 0; attempt < 3; ++attempt) {
      sweep_checkpoints_ = 0;
      try {
        Result<SweepReport> report = Sweep(Tools(), false);
        REQUIRE(report);
        for (const Failure& failure : report->failures) FAIL_CHECK(failure.message);
        return;
      } catch (const Crash&) {
        sweep_dies_at_.reset();
      }
    }
    FAIL("the sweep never came to its end");
  }

  void CheckNothingIsLeft(bool died) {
    CHECK(machine_.IsEmpty());
    const std::optional<store::Sandbox> row = Find();
    REQUIRE(row.has_value());
    CHECK(row->state == store::SandboxState::Closed);
    CHECK(store_->UnrevokedTokens(sandbox_)->empty());
    CHECK(store_->OpenSteps(sandbox_)->empty());
    const evidence::Verification verified = Verify();
    INFO(verified.where << ": " << verified.why);
    REQUIRE(verified.standing == evidence::Standing::Valid);
    CHECK(verified.receipt->verdict() == evidence::Cleanness::Clean);
    for (const evidence::ResourceOutcome& resource : verified.receipt->resources) {
      INFO(resource.resource_class << " " << resource.identity);
      CHECK(resource.fate == evidence::Fate::Destroyed);
    }
    if (!died && row->close_reason == "done") CHECK(verified.receipt->resources.size() == 10);
    CHECK(host_.files->Inspect(state_.Run(sandbox_.id), host::Follow::No).error().code ==
          FailureCode::NotFound);
    CHECK(host_.files->Inspect(state_.Reserve(sandbox_.id), host::Follow::No).error().code ==
          FailureCode::NotFound);
  }

  Shared& shared_;
  host::LinuxHost host_;
  fakes::FakeClock clock_;
  FaultyFiles files_;
  fakes::TemporaryDirectory directory_;
  host::StateDirectory state_;
  std::unique_ptr<store::Store> store_;
  std::unique_ptr<evidence::SigningKey> key_;
  std::uint64_t lives_ = 0;
  SimulatedHost machine_;
  Incarnation sandbox_;
  pid_t keeper_ = 100;
  std::uint64_t checkpoints_ = 0;
  std::uint64_t sweep_checkpoints_ = 0;
  std::uint64_t seen_ = 0;
  std::uint64_t changes_ = 0;
  std::optional<std::uint64_t> dies_at_;
  std::optional<std::uint64_t> stops_at_;
  std::optional<std::uint64_t> sweep_dies_at_;
};

constexpr std::size_t Steps = 9;
constexpr std::uint64_t SweepCheckpoints = 6;

TEST_CASE("a whole life leaves nothing and says so") {
  Shared shared;
  Simulation simulation(shared);
  simulation.Live({});
  CHECK(simulation.checkpoints() > 4 * Steps);
  CHECK(simulation.changes() > 2 * Steps);
}

TEST_CASE("a step that fails undoes everything before it") {
  Shared shared;
  Simulation simulation(shared);
  for (std::size_t step = 0; step < Steps; ++step) {
    for (const bool with_something : {false, true}) {
      INFO("step " << step << (with_something ? ", half done" : ""));
      Trouble trouble;
      trouble.step_fails = step;
      trouble.with_something = with_something;
      simulation.Live(trouble);
    }
  }
}

TEST_CASE("an interrupt before any step closes in order") {
  Shared shared;
  Simulation simulation(shared);
  for (std::size_t step = 0; step < Steps; ++step) {
    INFO("before step " << step);
    Trouble trouble;
    trouble.interrupted_before = step;
    simulation.Live(trouble);
  }
}

TEST_CASE("a keeper that dies at any moment leaves nothing after a sweep, even one that dies too") {
  Shared shared;
  Simulation simulation(shared);
  simulation.Live({});
  const std::uint64_t moments = simulation.checkpoints();
  for (std::uint64_t moment = 1; moment <= moments; ++moment) {
    for (std::uint64_t sweep = 0; sweep <= SweepCheckpoints; ++sweep) {
      for (const bool rebooted : {false, true}) {
        INFO("keeper at " << moment << ", sweep at " << sweep << ", rebooted " << rebooted);
        Trouble trouble;
        trouble.keeper_dies_at = moment;
        if (sweep > 0) trouble.sweep_dies_at = sweep;
        trouble.rebooted = rebooted;
        simulation.Live(trouble);
      }
    }
  }
}

TEST_CASE(
    "a keeper that stops at any moment is ended once its time is over, and the receipt says so") {
  Shared shared;
  Simulation simulation(shared);
  simulation.Live({});
  const std::uint64_t moments = simulation.checkpoints();
  for (std::uint64_t moment = 1; moment <= moments; ++moment) {
    for (const bool watchdog_works : {true, false}) {
      for (const std::uint64_t sweep : {0, 1, 3}) {
        INFO("stops at " << moment << ", watchdog " << watchdog_works << ", sweep at " << sweep);
        Trouble trouble;
        trouble.keeper_stops_at = moment;
        trouble.watchdog_works = watchdog_works;
        if (sweep > 0) trouble.sweep_dies_at = sweep;
        simulation.Live(trouble);
      }
    }
  }
}

TEST_CASE("the dead whom nobody has waited for are gone: one receipt, and clean") {
  Shared shared;
  Simulation simulation(shared);
  simulation.Live({});
  const std::uint64_t moments = simulation.checkpoints();
  for (std::uint64_t moment = 1; moment <= moments; ++moment) {
    INFO("keeper dies at " << moment);
    Trouble trouble;
    trouble.keeper_dies_at = moment;
    trouble.nobody_waits = true;
    simulation.Live(trouble);
  }
}

TEST_CASE(
    "what was in quarantine gets a second receipt only when it is clean, and it names the first") {
  Shared shared;
  Simulation simulation(shared);
  simulation.LiveInQuarantine();
}

TEST_CASE("a deadline means nothing in another boot") {
  fakes::FakeClock clock;
  store::Sandbox sandbox;
  sandbox.boot_id = clock.BootId();
  sandbox.state = store::SandboxState::Running;
  sandbox.deadline_boot_ms = clock.MonotonicNowMs() - 3'600'000;
  sandbox.keeper = host::ProcessIdentity{.pid = 7, .start_ticks = 1};
  CHECK(TimeLeftMs(clock, sandbox) == -3'600'000);
  CHECK(IsOverdue(clock, sandbox));
  sandbox.grace_ms = 3'600'000;
  CHECK_FALSE(IsOverdue(clock, sandbox));
  sandbox.grace_ms = 0;
  clock.boot_id[0] = '2';
  CHECK_FALSE(TimeLeftMs(clock, sandbox));
  CHECK_FALSE(IsOverdue(clock, sandbox));
  SimulatedHost host;
  host.alive.insert(7);  // another process, in another boot
  CHECK_FALSE(*KeeperLives(host, clock, sandbox));
  clock.boot_id[0] = '1';
  CHECK(*KeeperLives(host, clock, sandbox));
  sandbox.state = store::SandboxState::Closed;
  CHECK_FALSE(IsOverdue(clock, sandbox));
}

TEST_CASE("a disk that is full or breaks, or a crash, at any write leaves nothing") {
  Shared shared;
  Simulation simulation(shared);
  simulation.Live({});
  const std::uint64_t changes = simulation.changes();
  for (const Fault fault : {Fault::Fails, Fault::KeepsFailing, Fault::CrashBefore,
                            Fault::CrashAfter, Fault::CrashAmid}) {
    for (std::uint64_t change = 1; change <= changes; ++change) {
      INFO("fault " << static_cast<int>(fault) << " at change " << change);
      Trouble trouble;
      trouble.fault = fault;
      trouble.fault_at = change;
      simulation.Live(trouble);
    }
  }
}

TEST_CASE("lives with several troubles at once") {
  Shared shared;
  Simulation simulation(shared);
  const unsigned seed = 20'261'129;
  std::mt19937 random(seed);
  INFO("seed " << seed);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  const char* lives = std::getenv("CURFEW_TEST_LIVES");
  for (int life = 0; life < (lives != nullptr ? std::atoi(lives) : 400); ++life) {
    Trouble trouble;
    if (below(3) == 0) trouble.step_fails = below(Steps);
    trouble.with_something = below(2) == 0;
    if (below(4) == 0) trouble.interrupted_before = below(Steps);
    if (below(2) == 0) trouble.keeper_dies_at = 1 + below(40);
    if (below(2) == 0) trouble.sweep_dies_at = 1 + below(SweepCheckpoints);
    if (below(2) == 0) {
      trouble.fault = static_cast<Fault>(1 + below(5));
      trouble.fault_at = 1 + below(60);
    }
    trouble.rebooted = below(4) == 0;
    INFO("life " << life);
    simulation.Live(trouble);
  }
}

}  // namespace
}  // namespace curfew::lifecycle

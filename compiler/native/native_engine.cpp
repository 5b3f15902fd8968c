#include "compiler/native/native_engine.h"

#include "compiler/interpret/deciding.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace curfew::native {
namespace {

constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;

Failure Bad(std::string_view what) {
  return Failure(FailureCode::Malformed, fmt::format("not native code of this policy: {}", what));
}
class NativeConditions {
 public:
  NativeConditions(const Code& code, const Services& services) : code_(code), s_(services) {}

  [[nodiscard]] interpret::Truth Condition(const module::Request& request, std::uint32_t entry,
                                           bool by_key) const {
    const EntryCode& code = code_.entries()[entry];
    return Run(request, by_key ? code.keyed : code.condition);
  }
  [[nodiscard]] interpret::Truth Within(const module::Request& request, std::uint32_t entry) const {
    return Run(request, code_.entries()[entry].within);
  }
  [[nodiscard]] interpret::Truth When(const module::Request& request,
                                      module::ClassIndex index) const {
    return Run(request, code_.classes()[index]);
  }
  [[nodiscard]] bool NothingBefore(const module::Request& request, std::size_t block) const {
    return IsFalse(request, code_.blocks()[block].before);
  }
  [[nodiscard]] bool NothingLasting(const module::Request& request, std::size_t block) const {
    return IsFalse(request, code_.blocks()[block].lasting);
  }
  [[nodiscard]] bool NothingVarying(const module::Request& request, std::size_t block) const {
    return IsFalse(request, code_.blocks()[block].varying);
  }

 private:
  [[nodiscard]] std::uint32_t Call(const module::Request& request, CodePlace place) const {
    const auto run =
        reinterpret_cast<ConditionCode>(const_cast<std::byte*>(code_.code() + place.code));
    return run(&request.facts(), s_.words + place.constants, &s_);
  }
  [[nodiscard]] interpret::Truth Uncompiled(const module::Request& request, CodePlace place) const {
    if (place.code != InterpretedCode) return interpret::Known(place.code == AlwaysCode);
    return interpret::Evaluate(*s_.tables, request.facts(), place.constants);
  }
  [[nodiscard]] bool IsFalse(const module::Request& request, CodePlace place) const {
    if (place.code >= InterpretedCode) return place.code == NeverCode;
    return Call(request, place) == CodeFalse;
  }
  [[nodiscard]] interpret::Truth Run(const module::Request& request, CodePlace place) const {
    if (place.code >= InterpretedCode) return Uncompiled(request, place);
    const std::uint32_t answer = Call(request, place);
    if ((answer & CodeUnknown) == 0) return interpret::Known(answer == CodeTrue);
    return interpret::Missing(static_cast<schema::Slot>(answer >> CodeSlotShift));
  }

  const Code& code_;
  const Services& s_;
};

}  // namespace

Result<OwnedFd> SealImage(ByteView image) {
  // Newer kernels want to be told that a memory file holds code, and older ones do not know it.
  constexpr unsigned int kExecutable = 0x10;
  constexpr unsigned int kFlags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  int fd = memfd_create("curfew-native", kFlags | kExecutable);
  if (fd < 0 && errno == EINVAL) fd = memfd_create("curfew-native", kFlags);
  if (fd < 0) return SystemFailure(errno, "make a memory file for native code");
  OwnedFd owned(fd);
  while (!image.empty()) {
    const ssize_t written = write(fd, image.data(), image.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return SystemFailure(errno, "write native code to memory");
    image = image.subspan(static_cast<std::size_t>(written));
  }
  if (fcntl(fd, F_ADD_SEALS, kSeals) != 0) return SystemFailure(errno, "seal native code");
  return owned;
}

Code::Code(Code&& other) noexcept
    : data_map_(std::exchange(other.data_map_, nullptr)),
      data_bytes_(other.data_bytes_),
      code_map_(std::exchange(other.code_map_, nullptr)),
      code_bytes_(other.code_bytes_),
      entries_(other.entries_),
      classes_(other.classes_),
      blocks_(other.blocks_),
      words_(other.words_),
      code_(other.code_) {}

Code::~Code() {
  if (data_map_ != nullptr) munmap(data_map_, data_bytes_);
  if (code_map_ != nullptr) munmap(code_map_, code_bytes_);
}

Result<Code> Code::Map(int image, const module::PolicyModule& module) {
  struct stat status{};
  if (fstat(image, &status) != 0) return SystemFailure(errno, "look at native code");
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const int seals = fcntl(image, F_GET_SEALS);
  if (seals < 0 || (seals & kSeals) != kSeals) return Bad("it is not sealed");
  if (bytes < sizeof(ImageHeader)) return Bad("too short");

  Code code;
  code.data_bytes_ = bytes;
  void* data = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, image, 0);
  if (data == MAP_FAILED) return SystemFailure(errno, "map native code");
  code.data_map_ = data;
  ImageHeader header;
  std::memcpy(&header, data, sizeof header);
  const ImageHeader known;
  if (header.magic != known.magic) return Bad("it does not begin as such");
  if (header.version != known.version) return Bad("it is of another version");
  if (header.machine != MachineHere) return Bad("it is of another kind of machine");
  if (header.module != module.manifest().content.bytes) return Bad("it is of another module");
  const module::Tables& tables = module.tables();
  const std::size_t constants_end =
      sizeof header + std::size_t{header.entries} * sizeof(EntryCode) +
      std::size_t{header.classes} * sizeof(CodePlace) +
      std::size_t{header.blocks} * sizeof(BlockCode) + std::size_t{header.words} * 8;
  if (header.entries != tables.entries.size() || header.classes != tables.classes.size() ||
      header.blocks != tables.blocks.size() || header.code_offset < constants_end ||
      header.code_offset % PageBytes != 0 || header.code_bytes == 0 ||
      std::size_t{header.code_offset} + header.code_bytes != bytes) {
    return Bad("its parts do not fit");
  }
  const auto* begin = static_cast<const std::byte*>(data);
  const std::byte* place = begin + sizeof header;
  code.entries_ = {reinterpret_cast<const EntryCode*>(place), header.entries};
  place += code.entries_.size_bytes();
  code.classes_ = {reinterpret_cast<const CodePlace*>(place), header.classes};
  place += code.classes_.size_bytes();
  code.blocks_ = {reinterpret_cast<const BlockCode*>(place), header.blocks};
  place += code.blocks_.size_bytes();
  code.words_ = reinterpret_cast<const std::uint64_t*>(place);
  // `node`: the condition's own, which was proven with the module; the only one to interpret.
  const auto is_place = [&](CodePlace at, std::uint32_t node) {
    if (at.code == InterpretedCode) return node != module::NoIndex && at.constants == node;
    return at.code >= NeverCode || (at.code < header.code_bytes && at.constants <= header.words);
  };
  bool whole = true;
  for (std::size_t i = 0; i < code.entries_.size(); ++i) {
    const EntryCode& entry = code.entries_[i];
    whole = whole && is_place(entry.condition, tables.entries[i].condition) &&
            is_place(entry.keyed, tables.entries[i].condition) &&
            is_place(entry.within, tables.entries[i].within);
  }
  for (std::size_t i = 0; i < code.classes_.size(); ++i) {
    whole = whole && is_place(code.classes_[i], tables.classes[i].when);
  }
  for (const BlockCode& block : code.blocks_) {
    for (const CodePlace at : {block.before, block.lasting, block.varying}) {
      whole = whole && is_place(at, module::NoIndex);
    }
  }
  if (!whole) return Bad("a place out of range");

  code.code_bytes_ = header.code_bytes;
  void* text = mmap(nullptr, header.code_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, image,
                    static_cast<off_t>(header.code_offset));
  if (text == MAP_FAILED) return SystemFailure(errno, "map native code so that it can run");
  code.code_map_ = text;
  code.code_ = static_cast<const std::byte*>(text);
  return code;
}

Result<std::unique_ptr<NativeEngine>> NativeEngine::Make(module::PolicyModule policy, int image) {
  CURFEW_TRY(Code code, Code::Map(image, policy));
  return std::unique_ptr<NativeEngine>(new NativeEngine(std::move(policy), std::move(code)));
}

// One function without calls in between: a sixth of a decision.
[[gnu::flatten]] void NativeEngine::Decide(const module::Request& request,
                                           module::Verdict& verdict) const {
  interpret::Decision(module_, NativeConditions(code_, services_), interpret::UseIndex::Yes,
                      request, verdict)
      .Run(request);
}

[[gnu::flatten]] void NativeEngine::DecidePrepared(const module::PreparedRequest& prepared,
                                                   module::Verdict& verdict) const {
  interpret::DecidePrepared(module_, NativeConditions(code_, services_), prepared, verdict);
}

void NativeEngine::DecideAll(std::span<const module::Request* const> requests,
                             std::span<module::Verdict> verdicts) const {
  interpret::DecideAll(module_, NativeConditions(code_, services_), requests, verdicts);
}

module::PreparedRequest NativeEngine::Prepare(const module::Request& request) const {
  return interpret::Prepare(module_, NativeConditions(code_, services_), request);
}

module::InternedText NativeEngine::Intern(std::string_view text) const {
  return interpret::Candidates::Intern(module_, text);
}

}  // namespace curfew::native

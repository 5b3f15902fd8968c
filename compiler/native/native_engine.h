// NativeEngine: the decision engine whose conditions are machine code. What a decision does with
// them is the interpreter's own (interpret/decision.h), and a test holds both to the same answers.
#pragma once

#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"
#include "compiler/base/text.h"
#include "compiler/module/engine.h"
#include "compiler/module/policy_module.h"
#include "compiler/native/image.h"
#include "compiler/native/services.h"

#include <cstddef>
#include <memory>
#include <span>

namespace curfew::native {

// A sealed memory file with these bytes: nobody can write to it any more, so that no page of code
// can be both writable and executable.
Result<OwnedFd> SealImage(ByteView image);

// An image that was mapped: data to read, code to read and run.
class Code {
 public:
  // The memory file must be sealed, and its image one for `module` and this machine. System where
  // the kernel refuses executable pages. The descriptor can be closed afterwards.
  static Result<Code> Map(int image, const module::PolicyModule& module);

  Code(Code&& other) noexcept;
  Code& operator=(Code&&) = delete;
  ~Code();

  [[nodiscard]] std::span<const EntryCode> entries() const { return entries_; }
  [[nodiscard]] std::span<const CodePlace> classes() const { return classes_; }
  [[nodiscard]] std::span<const BlockCode> blocks() const { return blocks_; }
  [[nodiscard]] const std::uint64_t* words() const { return words_; }
  [[nodiscard]] const std::byte* code() const { return code_; }

 private:
  Code() = default;

  void* data_map_ = nullptr;
  std::size_t data_bytes_ = 0;
  void* code_map_ = nullptr;
  std::size_t code_bytes_ = 0;
  std::span<const EntryCode> entries_;
  std::span<const CodePlace> classes_;
  std::span<const BlockCode> blocks_;
  const std::uint64_t* words_ = nullptr;
  const std::byte* code_ = nullptr;
};

class NativeEngine final : public module::DecisionEngine {
 public:
  // The bytes behind `policy` must outlive the engine.
  static Result<std::unique_ptr<NativeEngine>> Make(module::PolicyModule policy, int image);

  void Decide(const module::Request& request, module::Verdict& verdict) const override;
  void DecidePrepared(const module::PreparedRequest& prepared,
                      module::Verdict& verdict) const override;
  void DecideAll(std::span<const module::Request* const> requests,
                 std::span<module::Verdict> verdicts) const override;
  [[nodiscard]] module::PreparedRequest Prepare(const module::Request& request) const override;
  [[nodiscard]] module::InternedText Intern(std::string_view text) const override;
  [[nodiscard]] const module::PolicyModule& module() const override { return module_; }
  [[nodiscard]] std::string_view kind() const override { return "native"; }

 private:
  NativeEngine(module::PolicyModule policy, Code code)
      : module_(std::move(policy)),
        code_(std::move(code)),
        services_(ServicesOf(module_.tables(), code_.words())) {}

  module::PolicyModule module_;
  Code code_;
  Services services_;
};

}  // namespace curfew::native

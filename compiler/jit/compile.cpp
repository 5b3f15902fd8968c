#include "compiler/jit/compile.h"

#include "compiler/codegen/emit.h"
#include "compiler/native/image.h"

#include <cstring>
#include <llvm/ExecutionEngine/Orc/CompileUtils.h>
#include <llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h>
#include <llvm/Object/ELFObjectFile.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace curfew::jit {
namespace {

Failure Unsupported(llvm::Error error) {
  return Failure(FailureCode::Unsupported,
                 "LLVM cannot compile for this machine: " + llvm::toString(std::move(error)));
}
Failure Fault(std::string_view what) {
  return Failure(FailureCode::Malformed, fmt::format("the compiled code is of no use: {}", what));
}

// The code of an object, and where each function begins in it.
struct MachineCode {
  std::string bytes;
  std::map<std::string, std::uint64_t, std::less<>> functions;
};

Result<MachineCode> TakeCode(const llvm::MemoryBuffer& object) {
  auto parsed = llvm::object::ObjectFile::createELFObjectFile(object.getMemBufferRef());
  if (!parsed) return Fault(llvm::toString(parsed.takeError()));
  const auto& file = **parsed;
  const auto is_code = [](const llvm::object::SectionRef& section) {
    auto name = section.getName();
    if (name) return *name == ".text";
    llvm::consumeError(name.takeError());
    return false;
  };
  MachineCode code;
  for (const llvm::object::SectionRef& section : file.sections()) {
    // Code that needs the place of anything to be written into it could not be shared.
    auto relocated = section.getRelocatedSection();
    if (!relocated) return Fault(llvm::toString(relocated.takeError()));
    if (*relocated != file.section_end() && is_code(**relocated) &&
        section.relocation_begin() != section.relocation_end()) {
      return Fault("it has relocations");
    }
    if (!is_code(section)) continue;
    auto contents = section.getContents();
    if (!contents) return Fault(llvm::toString(contents.takeError()));
    code.bytes = contents->str();
  }
  for (const llvm::object::SymbolRef& symbol : file.symbols()) {
    auto section = symbol.getSection();
    auto name = symbol.getName();
    auto address = symbol.getAddress();
    if (!section || !name || !address) {
      llvm::consumeError(section.takeError());
      llvm::consumeError(name.takeError());
      llvm::consumeError(address.takeError());
      return Fault("a symbol without a place");
    }
    if (*section != file.section_end() && is_code(**section)) {
      code.functions.emplace(name->str(), *address);
    }
  }
  return code;
}

template <typename T>
void Append(Bytes& bytes, const T* records, std::size_t count) {
  const auto* begin = reinterpret_cast<const std::uint8_t*>(records);
  bytes.insert(bytes.end(), begin, begin + count * sizeof(T));
}

// Header, places, words, code.
Result<Bytes> ImageOf(const module::PolicyModule& module, const codegen::ShapedTables& shaped,
                      const MachineCode& code) {
  std::vector<std::uint32_t> begins;
  for (std::uint32_t shape = 0; shape < shaped.shapes.size(); ++shape) {
    const auto found = code.functions.find(codegen::FunctionOf(shape));
    if (found == code.functions.end() || found->second >= code.bytes.size()) {
      return Fault("a shape without code");
    }
    begins.push_back(static_cast<std::uint32_t>(found->second));
  }
  const auto place = [&](const codegen::ShapedCondition& condition) -> native::CodePlace {
    if (condition.shape == codegen::ShapedCondition::Always) return {native::AlwaysCode, 0};
    if (condition.shape == codegen::ShapedCondition::Never) return {native::NeverCode, 0};
    if (!condition.has_shape()) return {native::InterpretedCode, condition.words};
    return {begins[condition.shape], condition.words};
  };
  std::vector<native::EntryCode> entries;
  for (const codegen::ShapedEntry& entry : shaped.entries) {
    entries.push_back({place(entry.condition), place(entry.keyed), place(entry.within)});
  }
  std::vector<native::CodePlace> classes;
  for (const codegen::ShapedCondition& condition : shaped.classes) {
    classes.push_back(place(condition));
  }
  std::vector<native::BlockCode> blocks;
  for (const codegen::ShapedGuards& guards : shaped.guards) {
    blocks.push_back({place(guards.before), place(guards.lasting), place(guards.varying)});
  }
  const std::size_t constants_end =
      sizeof(native::ImageHeader) + entries.size() * sizeof(native::EntryCode) +
      classes.size() * sizeof(native::CodePlace) + blocks.size() * sizeof(native::BlockCode) +
      shaped.words.size() * sizeof(std::uint64_t);
  const std::size_t code_offset =
      (constants_end + native::PageBytes - 1) / native::PageBytes * native::PageBytes;
  // A set without conditions has no code, and a mapping has at least a byte.
  const std::string text = code.bytes.empty() ? std::string(1, '\0') : code.bytes;
  native::ImageHeader header;
  header.machine = native::MachineHere;
  header.module = module.manifest().content.bytes;
  header.entries = static_cast<std::uint32_t>(entries.size());
  header.classes = static_cast<std::uint32_t>(classes.size());
  header.blocks = static_cast<std::uint32_t>(blocks.size());
  header.words = static_cast<std::uint32_t>(shaped.words.size());
  header.code_offset = static_cast<std::uint32_t>(code_offset);
  header.code_bytes = static_cast<std::uint32_t>(text.size());
  Bytes image;
  image.reserve(code_offset + text.size());
  Append(image, &header, 1);
  Append(image, entries.data(), entries.size());
  Append(image, classes.data(), classes.size());
  Append(image, blocks.data(), blocks.size());
  Append(image, shaped.words.data(), shaped.words.size());
  image.resize(code_offset);
  Append(image, text.data(), text.size());
  return image;
}

}  // namespace

Result<Bytes> CompileShapes(const module::PolicyModule& module,
                            const codegen::ShapedTables& shaped) {
  if (native::MachineHere == 0 || llvm::InitializeNativeTarget() ||
      llvm::InitializeNativeTargetAsmPrinter()) {
    return Failure(FailureCode::Unsupported, "there is no native code for this kind of machine");
  }
  // Of this machine's kind, and not of its very processor: equal modules have equal images.
  llvm::orc::JITTargetMachineBuilder machine_builder{llvm::Triple(llvm::sys::getProcessTriple())};
  machine_builder.setRelocationModel(llvm::Reloc::PIC_);
  machine_builder.setCodeModel(llvm::CodeModel::Small);
  const codegen::Effort effort = codegen::EffortFor(shaped);
  machine_builder.setCodeGenOptLevel(effort == codegen::Effort::Full
                                         ? llvm::CodeGenOptLevel::Default
                                         : llvm::CodeGenOptLevel::Less);
  auto machine = machine_builder.createTargetMachine();
  if (!machine) return Unsupported(machine.takeError());

  codegen::LlvmUnit unit = codegen::Emit(shaped, (*machine)->getTargetTriple().str(),
                                         (*machine)->createDataLayout().getStringRepresentation());
  CURFEW_TRY_VOID(codegen::Optimise(unit, effort));
  llvm::orc::SimpleCompiler compiler(**machine);
  auto object = compiler(*unit.module);
  if (!object) return Unsupported(object.takeError());
  CURFEW_TRY(const MachineCode code, TakeCode(**object));
  return ImageOf(module, shaped, code);
}

Result<Bytes> CompileImage(const module::PolicyModule& module) {
  return CompileShapes(module, codegen::TakeShapes(module.tables()));
}

}  // namespace curfew::jit

#include "runtime/image/image.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace curfew::image {
namespace {

using nlohmann::json;

constexpr int ManifestVersion = 1;

json ToJson(const FileEntry& entry) {
  return {{"file", entry.file}, {"digest", ToString(entry.digest)}, {"bytes", entry.bytes}};
}

json ToJson(const Content& content) {
  return {{"root", ToJson(content.root)},
          {"entry_point", content.entry_point},
          {"environment", content.environment}};
}

json ToJson(const Boot& boot) {
  json modules = json::object();
  for (const auto& [name, digest] : boot.modules) modules[name] = ToString(digest);
  return {{"kernel", ToJson(boot.kernel)},
          {"kernel_release", boot.kernel_release},
          {"initrd", ToJson(boot.initrd)},
          {"agent", ToString(boot.agent)},
          {"modules", modules}};
}

// nlohmann's objects are sorted by key, so its compact form is canonical. A byte that is no UTF-8
// becomes a replacement character: it then differs from what it was made of, and is refused.
std::string Canonical(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct Wrong {
  std::string what;
};

Digest ReadDigest(const json& value) {
  const auto digest = ParseDigest(value.get<std::string>());
  if (!digest) throw Wrong{"a digest is not `sha256:` and 64 hexadecimal digits"};
  return *digest;
}

FileEntry ReadFile(const json& value) {
  FileEntry entry{value.at("file").get<std::string>(), ReadDigest(value.at("digest")),
                  value.at("bytes").get<std::uint64_t>()};
  if (entry.file.empty() || entry.file[0] == '.' || entry.file.find('/') != std::string::npos) {
    throw Wrong{"`" + Printable(entry.file) + "` is not the plain name of a file"};
  }
  return entry;
}

Content ReadContent(const json& value) {
  return {ReadFile(value.at("root")), value.at("entry_point").get<std::vector<std::string>>(),
          value.at("environment").get<std::map<std::string, std::string>>()};
}

Boot ReadBoot(const json& value) {
  Boot boot{ReadFile(value.at("kernel")),
            value.at("kernel_release").get<std::string>(),
            ReadFile(value.at("initrd")),
            ReadDigest(value.at("agent")),
            {}};
  for (const auto& [name, digest] : value.at("modules").items()) {
    boot.modules[name] = ReadDigest(digest);
  }
  return boot;
}

}  // namespace

Digest DigestOf(const Content& content) { return Sha256(AsBytes(Canonical(ToJson(content)))); }

std::string EncodeManifest(const Manifest& manifest) {
  return Canonical({{"version", ManifestVersion},
                    {"name", manifest.name},
                    {"digest", ToString(DigestOf(manifest.content))},
                    {"content", ToJson(manifest.content)},
                    {"boot", ToJson(manifest.boot)}}) +
         "\n";
}

Result<Manifest> DecodeManifest(std::string_view text) {
  const auto wrong = [](const std::string& what) {
    return Failure(FailureCode::Malformed, "not an image manifest: " + what);
  };
  const json value = json::parse(text, nullptr, false);
  if (value.is_discarded() || !value.is_object()) return wrong("it is no JSON object");
  try {
    if (value.at("version") != ManifestVersion) {
      return wrong(fmt::format("its version is not {}", ManifestVersion));
    }
    Manifest manifest{value.at("name").get<std::string>(), ReadContent(value.at("content")),
                      ReadBoot(value.at("boot"))};
    const Digest stated = ReadDigest(value.at("digest"));
    if (stated != DigestOf(manifest.content)) {
      return Failure(FailureCode::Tampered,
                     "the image manifest states another digest than its content has");
    }
    // What was not read, was doubled or has another spelling does not come back.
    if (EncodeManifest(manifest) != text) {
      return wrong("it has members or spellings that a manifest does not have");
    }
    return manifest;
  } catch (const json::exception& error) {
    return wrong(error.what());
  } catch (const Wrong& error) {
    return wrong(error.what);
  }
}

std::string EncodeDeclaration(const Manifest& manifest) {
  return fmt::format(
      "language 1\n\n"
      "image {} {{\n"
      "  ref    \"curfew.local/{}\"\n"
      "  digest {}\n"
      "}}\n",
      manifest.name, manifest.name, ToString(DigestOf(manifest.content)));
}

}  // namespace curfew::image

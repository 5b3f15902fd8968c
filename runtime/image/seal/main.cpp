// curfew-seal-image: the last step of build-image. Writes manifest.json and images.curfew for the
// files of a directory.
#include "runtime/image/image.h"

#include <filesystem>
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>

namespace {

namespace fs = std::filesystem;
using curfew::image::FileEntry;
using curfew::image::Manifest;

FileEntry Describe(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  curfew::Sha256Stream hash;
  std::string piece(1 << 20, '\0');
  FileEntry entry{path.filename().string(), {}, 0};
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())), file.gcount() > 0) {
    const auto got = static_cast<std::size_t>(file.gcount());
    hash.Update(curfew::AsBytes(std::string_view(piece).substr(0, got)));
    entry.bytes += got;
  }
  entry.digest = hash.Finish();
  return entry;
}

// Replaces the file at once: a reader sees the old text or the new one.
void Replace(const fs::path& path, const std::string& text) {
  const fs::path fresh = path.string() + ".new";
  {
    std::ofstream file(fresh, std::ios::binary | std::ios::trunc);
    file << text;
    if (!file.flush()) throw std::runtime_error("cannot write " + fresh.string());
  }
  fs::rename(fresh, path);
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Writes the manifest and the declaration of an image directory.");
  fs::path directory;
  fs::path agent;
  fs::path modules;
  Manifest manifest;
  std::vector<std::string> environment;
  app.add_option("--directory", directory, "holds root.erofs, vmlinux and initrd.cpio")->required();
  app.add_option("--name", manifest.name, "the image's name in policy")->required();
  app.add_option("--agent", agent, "the guest agent that is in the initrd")->required();
  app.add_option("--modules", modules, "folder of the modules that are in the initrd")->required();
  app.add_option("--kernel-release", manifest.boot.kernel_release)->required();
  app.add_option("--entry-point", manifest.content.entry_point, "one option an argument")
      ->required();
  app.add_option("--environment", environment, "NAME=value, repeated");
  CLI11_PARSE(app, count, arguments);
  try {
    for (const std::string& entry : environment) {
      const std::size_t equals = entry.find('=');
      if (equals == std::string::npos) throw std::runtime_error("not NAME=value: " + entry);
      manifest.content.environment[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
    manifest.content.root = Describe(directory / "root.erofs");
    manifest.boot.kernel = Describe(directory / "vmlinux");
    manifest.boot.initrd = Describe(directory / "initrd.cpio");
    manifest.boot.agent = Describe(agent).digest;
    for (const fs::directory_entry& module : fs::directory_iterator(modules)) {
      manifest.boot.modules[module.path().filename().string()] = Describe(module.path()).digest;
    }
    Replace(directory / "manifest.json", EncodeManifest(manifest));
    Replace(directory / "images.curfew", EncodeDeclaration(manifest));
    std::cout << "image: " << manifest.name << " "
              << ToString(curfew::image::DigestOf(manifest.content)) << "\n";
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "curfew-seal-image: " << error.what() << "\n";
    return 1;
  }
}

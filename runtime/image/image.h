// An image directory: the read-only root file system and what boots it, verified by digest before
// anything is handed to a machine. It is not a registry and not a builder (see build-image beside
// this file); manifest.json is the only name that is trusted by itself, and only as far as its
// digest is the one that policy allowed.
#pragma once

#include "compiler/base/crypto.h"
#include "compiler/base/owned_fd.h"
#include "compiler/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace curfew::image {

// One file of the directory, as the manifest states it.
struct FileEntry {
  std::string file;  // a plain name, without a slash
  Digest digest;
  std::uint64_t bytes = 0;
  friend bool operator==(const FileEntry&, const FileEntry&) = default;
};

// What the digest of an image covers: everything that a task can see.
struct Content {
  FileEntry root;                                  // an erofs file system
  std::vector<std::string> entry_point;            // what runs when nothing else is granted
  std::map<std::string, std::string> environment;  // the defaults of every process inside
  friend bool operator==(const Content&, const Content&) = default;
};

// What boots an image. Recorded and verified, but not part of the image's identity: a kernel update
// leaves the digest alone.
struct Boot {
  FileEntry kernel;  // an ELF vmlinux with a PVH entry
  std::string kernel_release;
  FileEntry initrd;
  Digest agent;
  std::map<std::string, Digest> modules;
  friend bool operator==(const Boot&, const Boot&) = default;
};

struct Manifest {
  std::string name;  // as policy declares it: `image NAME { … }`
  Content content;
  Boot boot;
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

// SHA-256 over the canonical JSON of `content` (sorted keys, no white space): the digest that a
// policy's `image` declaration states.
Digest DigestOf(const Content& content);

// The manifest file's text: canonical JSON with a final newline. Decoding is strict: an unknown,
// missing, doubled or ill-typed member, or a stated digest that is not DigestOf(content), is a
// failure.
std::string EncodeManifest(const Manifest& manifest);
Result<Manifest> DecodeManifest(std::string_view text);

// A declaration file for a policy set: `image NAME { ref … digest … }`.
std::string EncodeDeclaration(const Manifest& manifest);

// An opened and verified image. The descriptors are read-only; what was hashed is what they read.
struct Image {
  Manifest manifest;
  Digest digest;
  OwnedFd root;
  OwnedFd kernel;
  OwnedFd initrd;
};

// Opens `directory` and verifies every file in it against its manifest (files that did not change
// since they were read are not read again, see verified.h). NotFound: no image there
// (the remedy is in the message). Malformed: the manifest. Tampered: a file is not what the
// manifest says.
Result<Image> Open(const std::string& directory);

// The manifest alone, without reading the large files: what `doctor` and a plan need to know.
Result<Manifest> ReadManifest(const std::string& directory);

}  // namespace curfew::image

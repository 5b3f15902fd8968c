// Reading what the kernel says in text files.
#pragma once

#include <cstddef>
#include <string>

namespace curfew::guest {

// The file's content up to `bytes_max`, without a final newline; empty when it cannot be read.
std::string ReadTextFile(const std::string& path, std::size_t bytes_max = 1 << 20);

// Writes `text` in one call. False when the kernel refuses.
bool WriteTextFile(const std::string& path, const std::string& text);

}  // namespace curfew::guest

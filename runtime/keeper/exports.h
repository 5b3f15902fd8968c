// Exports: the agent lists what the patterns meet, each file is judged, and those that may leave
// are streamed into the client's folder, one after another. What the guest says of a file is
// checked again by what comes.
#pragma once

#include "runtime/host/linux/export_directory.h"
#include "runtime/keeper/desk.h"

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace curfew::keeper {

class Exports {
 public:
  Exports(Desk& desk, host::ExportDirectory directory)
      : desk_(desk), directory_(std::move(directory)) {}
  Exports(const Exports&) = delete;
  Exports& operator=(const Exports&) = delete;

  // One at a time; false while one is under way.
  bool Begin(std::uint32_t id, ExportMessage message);
  [[nodiscard]] bool is_busy() const { return busy_; }

 private:
  void Next();
  // The entry of the driver: only an allowed export opens it, for the file that was judged.
  // False when nothing is under way.
  bool Fetch(gate::Permit<schema::Action::Export> permit, const guest::File& file);
  void OnData(ByteView data);
  void OnEnd(const Outcome& outcome);
  void Report(const guest::File& file, std::string digest, std::string failure);
  void Finish(std::string failure);
  [[nodiscard]] std::string NameOf(const std::string& path) const;

  Desk& desk_;
  host::ExportDirectory directory_;
  bool busy_ = false;
  std::uint32_t id_ = 0;
  std::vector<std::string> patterns_;
  std::deque<guest::File> files_;
  std::string listing_fault_;
  std::uint64_t exported_ = 0;
  std::uint64_t total_bytes_ = 0;  // of everything that left, over all exports

  // The file under way.
  guest::File file_;
  std::uint32_t fetch_ = 0;
  std::optional<host::ExportFile> target_;
  std::optional<Failure> write_failure_;
};

}  // namespace curfew::keeper

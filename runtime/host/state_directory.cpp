#include "runtime/host/state_directory.h"

namespace curfew::host {

Outcome StateDirectory::Prepare(Files& files) const {
  for (const std::string& directory : {root, Keys(), NativeCode(), Sandboxes()}) {
    const bool is_new = !files.Inspect(directory, Follow::No);
    Outcome made = files.MakeDirectory(directory, 0700);
    if (made && is_new) made = files.SyncDirectory(directory.substr(0, directory.rfind('/')) + "/");
    if (!made) return made.error().In("the state directory");
  }
  return Ok();
}

Outcome StateDirectory::PrepareSandbox(Files& files, std::string_view id) const {
  for (const std::string& directory : {Sandbox(id), Run(id), Exports(id)}) {
    Outcome made = files.MakeDirectory(directory, 0700);
    if (!made) return made.error().In("the sandbox's directory");
  }
  return files.Reserve(Reserve(id), ReserveBytes);
}

Outcome StateDirectory::RemoveTemporary(Files& files, std::string_view id) const {
  CURFEW_TRY(const bool had_reserve, files.Remove(Reserve(id)));
  CURFEW_TRY(const bool had_run, files.RemoveTree(Run(id)));
  static_cast<void>(had_reserve && had_run);
  return Ok();
}

}  // namespace curfew::host

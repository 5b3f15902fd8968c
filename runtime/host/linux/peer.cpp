#include "runtime/host/linux/peer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>

namespace curfew::host {
namespace {

bool IsPrincipalName(std::string_view name) {
  return !name.empty() && name.size() <= 256 &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 ||
                  std::string_view("._-@+/").find(static_cast<char>(c)) != std::string_view::npos;
         });
}

std::string UserName(uid_t uid) {
  std::array<char, 16 * 1024> room{};
  passwd entry{};
  passwd* found = nullptr;
  if (getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr &&
      IsPrincipalName(found->pw_name)) {
    return found->pw_name;
  }
  return std::to_string(uid);
}

std::string GroupName(gid_t gid) {
  std::array<char, 64 * 1024> room{};
  group entry{};
  group* found = nullptr;
  if (getgrgid_r(gid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr &&
      IsPrincipalName(found->gr_name)) {
    return found->gr_name;
  }
  return std::to_string(gid);
}

}  // namespace

Result<Peer> PeerOf(int socket) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return SystemFailure(errno, "ask who is at the other end of the control socket");
  }
  std::vector<gid_t> gids(1024);
  size = static_cast<socklen_t>(gids.size() * sizeof(gid_t));
  if (getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, gids.data(), &size) != 0) {
    return SystemFailure(errno, "ask for the groups of the other end of the control socket");
  }
  gids.resize(size / sizeof(gid_t));
  gids.push_back(credentials.gid);
  Peer peer{.id = "user:" + UserName(credentials.uid),
            .groups = {},
            .is_root = credentials.uid == 0,
            .uid = credentials.uid,
            .pid = credentials.pid};
  for (const gid_t gid : gids) peer.groups.push_back("group:" + GroupName(gid));
  std::sort(peer.groups.begin(), peer.groups.end());
  peer.groups.erase(std::unique(peer.groups.begin(), peer.groups.end()), peer.groups.end());
  return peer;
}

}  // namespace curfew::host

// nginx and squid as the gateway's peers: started in the foreground, in this process's namespace,
// and ended with it.
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>
#include <vector>

namespace curfew::bench {

inline constexpr std::uint64_t LargeBytes = std::uint64_t{1} << 30;

class Peer {
 public:
  explicit Peer(pid_t pid) : pid_(pid) {}
  ~Peer();
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// On port 80 of the address /pub/small and /pub/large, of LargeBytes; on the other port every
// request is answered with `return 403`. One process. Ends the program where it does not come up.
Peer StartNginx(const std::string& folder, const std::string& address, std::uint16_t refusing_port);

// A proxy on the loopback that allows these hosts and no other, all of which are at the address.
Peer StartSquid(const std::string& folder, std::uint16_t port,
                const std::vector<std::string>& hosts, const std::string& address);

// Of one thread; a process of one thread has that one's id.
std::uint64_t CpuNsOfThread(pid_t thread);
std::vector<pid_t> ThreadsOfThisProcess();

}  // namespace curfew::bench

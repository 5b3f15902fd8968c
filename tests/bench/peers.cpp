#include "tests/bench/peers.h"

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace curfew::bench {
namespace {

[[noreturn]] void GiveUp(const std::string& why) {
  fmt::print(stderr, "gateway_bench: {}\n", why);
  std::exit(1);
}

pid_t Run(const std::vector<std::string>& command) {
  const pid_t pid = fork();
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<char*> argv;
    for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    execvp(argv.front(), argv.data());
    _exit(127);
  }
  return pid;
}

bool Answers(const std::string& address, std::uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  inet_pton(AF_INET, address.c_str(), &at.sin_addr);
  const bool answers = connect(fd, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
  close(fd);
  return answers;
}

void Await(pid_t pid, const std::string& name, const std::string& address, std::uint16_t port) {
  for (int i = 0; i < 300; ++i) {
    if (Answers(address, port)) return;
    if (waitpid(pid, nullptr, WNOHANG) == pid) GiveUp(name + " ended at its start");
    usleep(100'000);
  }
  GiveUp(name + " does not listen after 30 s");
}

void Write(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  if (!out.flush()) GiveUp("cannot write " + path);
}

}  // namespace

Peer::~Peer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

Peer StartNginx(const std::string& folder, const std::string& address,
                std::uint16_t refusing_port) {
  const std::string pub = folder + "/www/pub";
  std::filesystem::create_directories(pub);
  Write(pub + "/small", "small\n");
  Write(pub + "/large", "");
  std::filesystem::resize_file(pub + "/large", LargeBytes);  // without taking its room
  const std::string path = folder + "/nginx.conf";
  Write(path, fmt::format(R"(daemon off;
master_process off;
pid {0}/nginx.pid;
error_log {0}/nginx-error.log;
events {{ worker_connections 8192; }}
http {{
  access_log {0}/nginx-access.log;
  keepalive_requests 1000000000;
  sendfile on;
  client_body_temp_path {0}/nginx-body;
  proxy_temp_path {0}/nginx-proxy;
  fastcgi_temp_path {0}/nginx-fastcgi;
  uwsgi_temp_path {0}/nginx-uwsgi;
  scgi_temp_path {0}/nginx-scgi;
  server {{ listen {1}:80; root {0}/www; }}
  server {{ listen {1}:{2}; return 403; }}
}}
)",
                          folder, address, refusing_port));
  const pid_t pid = Run({"nginx", "-e", folder + "/nginx-error.log", "-c", path});
  Await(pid, "nginx", address, refusing_port);
  return Peer(pid);
}

Peer StartSquid(const std::string& folder, std::uint16_t port,
                const std::vector<std::string>& hosts, const std::string& address) {
  std::string allowed;
  std::string addresses;
  for (const std::string& host : hosts) {
    allowed += host + "\n";
    addresses += address + " " + host + "\n";
  }
  // Squid gives up root, and must still write its logs.
  const std::string own = folder + "/squid";
  std::filesystem::create_directories(own);
  std::filesystem::permissions(own, std::filesystem::perms::all);
  Write(own + "/allowed", allowed);
  Write(own + "/hosts", addresses);
  const std::string path = own + "/squid.conf";
  Write(path, fmt::format(R"(http_port 127.0.0.1:{1}
acl allowed dstdomain "{0}/allowed"
acl reading method GET
http_access allow allowed reading
http_access deny all
cache deny all
hosts_file {0}/hosts
access_log stdio:{0}/access.log
cache_log {0}/cache.log
pid_filename none
coredump_dir none
pinger_enable off
shutdown_lifetime 0 seconds
)",
                          own, port));
  const pid_t pid = Run({"squid", "-N", "-f", path});
  Await(pid, "squid", "127.0.0.1", port);
  return Peer(pid);
}

std::uint64_t CpuNsOfThread(pid_t thread) {
  std::ifstream in(fmt::format("/proc/{}/schedstat", thread));
  std::uint64_t ns = 0;
  in >> ns;
  return ns;
}

std::vector<pid_t> ThreadsOfThisProcess() {
  std::vector<pid_t> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    threads.push_back(static_cast<pid_t>(std::atoi(entry.path().filename().c_str())));
  }
  return threads;
}

}  // namespace curfew::bench

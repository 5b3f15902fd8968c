// gateway_bench FOLDER [denied|allowed|open]: the gateway beside nginx and squid, on the loopback
// of a network namespace of its own, with the same client; what a keeper does for each request is
// done (judged gateway). Prints one line of JSON a figure. FOLDER is for configurations and logs.
// Needs root.
#include "tests/bench/judged_gateway.h"
#include "tests/bench/peers.h"
#include "tests/egress/played_world.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sys/resource.h>
#include <thread>

#include <fmt/format.h>

using namespace curfew;
using bench::Peer;
using egress::Stream;

namespace {

constexpr std::size_t AllowedHosts = 100;
constexpr int Rounds = 5;
constexpr int DeniedRounds = 15;
constexpr const char* UpstreamAddress = "198.51.100.7";
constexpr std::uint16_t SquidPort = 3128;
constexpr std::uint16_t RefusingPort = 8403;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}
double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void WritePolicy(const std::string& path) {
  std::ofstream out(path);
  out << "language 1\npackage bench.gateway\nimage base {\n  digest sha256:" << std::string(64, '0')
      << "\n}\nsandbox work when task.kind == \"work\" {\n  image { allow base isolation any }\n"
         "  lifetime { ttl 10m }\n  network {\n";
  for (std::size_t i = 0; i < AllowedHosts; ++i) {
    out << fmt::format("    allow GET \"http://h{}.example/pub/**\"\n", i);
  }
  out << "  }\n}\n";
}

// A connection that is kept, and what comes back on it. Answers have a Content-Length.
class Client {
 public:
  Client(const std::string& address, std::uint16_t port) : stream_(Stream::To(address, port)) {}

  // The status, with the body read. 0 when the connection ended.
  int Ask(const std::string& request) {
    stream_.Send(request);
    const std::string head = stream_.ReadUntil("\r\n\r\n");
    if (head.size() < 12) return 0;
    constexpr std::string_view kLength = "\r\nContent-Length: ";
    const std::size_t at = head.find(kLength);
    if (at == std::string::npos) return 0;
    const std::size_t size = std::strtoull(head.c_str() + at + kLength.size(), nullptr, 10);
    if (stream_.ReadBytes(size).size() != size) return 0;
    return std::atoi(head.c_str() + 9);
  }
  // How many bytes of a body came.
  std::uint64_t Download(const std::string& request) {
    stream_.Send(request);
    static_cast<void>(stream_.ReadUntil("\r\n\r\n"));
    std::uint64_t got = 0;
    for (;;) {
      const std::string chunk = stream_.ReadBytes(1 << 16);
      got += chunk.size();
      if (chunk.size() < 1 << 16) return got;
    }
  }

 private:
  Stream stream_;
};

std::string ToProxy(const std::string& host, const std::string& path, bool close = false) {
  return fmt::format("GET http://{0}{1} HTTP/1.1\r\nHost: {0}\r\n{2}\r\n", host, path,
                     close ? "Connection: close\r\n" : "");
}

void Must(bool holds, const std::string& what) {
  if (holds) return;
  fmt::print(stderr, "gateway_bench: {}\n", what);
  std::exit(1);
}

// Nanoseconds of CPU that a server takes for each of so many requests on one connection.
double CpuOfEach(Client& client, const std::string& request, int status,
                 const std::function<std::uint64_t()>& cpu_ns) {
  constexpr int kRequests = 2000;
  for (int i = 0; i < 200; ++i) Must(client.Ask(request) == status, "another status: " + request);
  const std::uint64_t begin = cpu_ns();
  for (int i = 0; i < kRequests; ++i) Must(client.Ask(request) == status, "another status");
  return static_cast<double>(cpu_ns() - begin) / kRequests;
}

// The same bytes to both: what a client sends that knows of no proxy. In turn, so that what else
// the machine does meets both alike.
void MeasureDenied(const bench::JudgedGateway& judged, pid_t gateway_thread, const Peer& nginx) {
  const auto guest = [&](const std::string& name) {
    const auto address = judged.AddressOf(name);
    if (!address) Must(false, address.error().message);
    return Client(*address, judged.port());
  };
  Client to_nobody = guest("nobody.example");
  Client to_host = guest("h1.example");
  Client to_nginx(UpstreamAddress, RefusingPort);
  const std::string by_host_request = "GET / HTTP/1.1\r\nHost: nobody.example\r\n\r\n";
  const std::string by_path_request = "GET /other HTTP/1.1\r\nHost: h1.example\r\n\r\n";
  std::vector<double> by_host;
  std::vector<double> by_path;
  std::vector<double> nginxes;
  std::vector<double> host_ratios;
  std::vector<double> path_ratios;
  const auto gateway_cpu = [&] { return bench::CpuNsOfThread(gateway_thread); };
  const auto nginx_cpu = [&] { return bench::CpuNsOfThread(nginx.pid()); };
  for (int round = 0; round < DeniedRounds; ++round) {
    by_host.push_back(CpuOfEach(to_nobody, by_host_request, 403, gateway_cpu));
    nginxes.push_back(CpuOfEach(to_nginx, by_host_request, 403, nginx_cpu));
    by_path.push_back(CpuOfEach(to_host, by_path_request, 403, gateway_cpu));
    host_ratios.push_back(by_host.back() / nginxes.back());
    path_ratios.push_back(by_path.back() / nginxes.back());
  }
  fmt::print(
      R"({{"row": "denied", "engine": "{}", "host_ns": {:.0f}, "path_ns": {:.0f}, "nginx_ns": {:.0f}, )"
      R"("host_ratio": {:.3f}, "path_ratio": {:.3f}}})"
      "\n",
      judged.engine(), Median(by_host), Median(by_path), Median(nginxes), Median(host_ratios),
      Median(path_ratios));
}

// Requests a second of four clients, each on a kept connection.
double Throughput(const std::string& address, std::uint16_t port) {
  constexpr int kClients = 4;
  constexpr int kRequests = 1500;
  std::vector<Client> clients;
  for (int i = 0; i < kClients; ++i) clients.emplace_back(address, port);
  const auto run = [&](int requests) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([&clients, i, requests] {
        const std::string request = ToProxy(fmt::format("h{}.example", i), "/pub/small");
        for (int n = 0; n < requests; ++n) {
          Must(clients[static_cast<std::size_t>(i)].Ask(request) == 200,
               "an allowed request failed");
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  };
  run(100);
  const Clock::time_point begin = Clock::now();
  run(kRequests);
  return kClients * kRequests / SecondsSince(begin);
}

double BulkRate(const std::string& address, std::uint16_t port) {
  Client client(address, port);
  const Clock::time_point begin = Clock::now();
  const std::uint64_t got = client.Download(ToProxy("h2.example", "/pub/large", true));
  Must(got == bench::LargeBytes, fmt::format("the large body has {} bytes", got));
  return static_cast<double>(got) / SecondsSince(begin) / (1 << 20);
}

void MeasureAgainstSquid(const bench::JudgedGateway& judged) {
  std::vector<double> ours;
  std::vector<double> squids;
  std::vector<double> our_bulk;
  std::vector<double> squid_bulk;
  for (int round = 0; round < Rounds; ++round) {
    ours.push_back(Throughput("127.0.0.1", judged.port()));
    squids.push_back(Throughput("127.0.0.1", SquidPort));
  }
  for (int round = 0; round < 3; ++round) {
    our_bulk.push_back(BulkRate("127.0.0.1", judged.port()));
    squid_bulk.push_back(BulkRate("127.0.0.1", SquidPort));
  }
  fmt::print(R"({{"row": "allowed", "gateway_rps": {:.0f}, "squid_rps": {:.0f}}})"
             "\n",
             Median(ours), Median(squids));
  fmt::print(R"({{"row": "bulk", "gateway_mibs": {:.0f}, "squid_mibs": {:.0f}}})"
             "\n",
             Median(our_bulk), Median(squid_bulk));
}

std::size_t ResidentBytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  in >> total >> resident;
  return resident * 4096;
}

void MeasureOpen(bench::JudgedGateway& judged) {
  constexpr std::size_t kOpen = 2000;
  const std::string request = ToProxy("h3.example", "/pub/small");
  std::vector<Client> clients;
  clients.reserve(kOpen);
  const auto open = [&](std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      clients.emplace_back("127.0.0.1", judged.port());
      Must(clients.back().Ask(request) == 200, "an open connection has no answer");
    }
  };
  open(50);  // what is paid once
  const std::size_t before = ResidentBytes();
  open(kOpen - 50);
  const std::size_t each = (ResidentBytes() - before) / (kOpen - 50);
  std::size_t answered = 0;
  for (Client& client : clients) answered += client.Ask(request) == 200 ? 1 : 0;
  fmt::print(R"({{"row": "open", "connections": {}, "bytes_each": {}, "lost": {}}})"
             "\n",
             judged.gateway().load().connections, each, kOpen - answered);
}

void AllowManyFiles() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string only = argc == 3 ? argv[2] : "";
  const bool is_row = only.empty() || only == "denied" || only == "allowed" || only == "open";
  if (argc < 2 || argc > 3 || !is_row) {
    fmt::print(stderr, "usage: gateway_bench FOLDER [denied|allowed|open]\n");
    return 1;
  }
  const std::string folder = std::filesystem::absolute(argv[1]).string();
  AllowManyFiles();
  egress::EnterPlayedWorld();
  egress::PlayedResolver resolver;
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < AllowedHosts; ++i) {
    hosts.push_back(fmt::format("h{}.example", i));
    resolver.Say(hosts.back(), {.addresses = {UpstreamAddress}});
  }
  const Peer nginx = bench::StartNginx(folder, UpstreamAddress, RefusingPort);
  const Peer squid = bench::StartSquid(folder, SquidPort, hosts, UpstreamAddress);
  const std::string policy = folder + "/gateway.curfew";
  WritePolicy(policy);
  const std::vector<pid_t> before = bench::ThreadsOfThisProcess();
  auto judged = bench::JudgedGateway::Open(policy, folder + "/state", resolver.Address);
  if (!judged) Must(false, judged.error().message);
  const std::vector<pid_t> threads = bench::ThreadsOfThisProcess();
  const auto gateway_thread = std::ranges::find_if(
      threads, [&](pid_t thread) { return std::ranges::find(before, thread) == before.end(); });
  Must(gateway_thread != threads.end(), "the gateway has no thread");
  if (only.empty() || only == "denied") MeasureDenied(**judged, *gateway_thread, nginx);
  if (only.empty() || only == "allowed") MeasureAgainstSquid(**judged);
  if (only.empty() || only == "open") MeasureOpen(**judged);
  return 0;
}

// The API under load: reads of a store with a run of 10,000 nodes (by wrk, where it is installed),
// 500 open event streams, and an idle service. Prints figures; needs a machine with nothing else to
// do: api_bench [SECONDS]
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <fstream>
#include <list>

#include "base/json.h"
#include "base/text.h"
#include "orchestrator/api/service.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/access_tokens.h"
#include "orchestrator/store/store.h"
#include "tests/support/child.h"

namespace cupel {
namespace {

constexpr int kNodes = 10'000;
constexpr int kStreams = 500;

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

double resident_mib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::stod(line.substr(6)) / 1024;
  return 0;
}

engine::Event event_of(engine::EventKind kind, const std::string& node, const std::string& step,
                       json::object data) {
  engine::Event event;
  event.kind = kind;
  event.node = node;
  event.step = step;
  event.data = std::move(data);
  return event;
}

void fill(store::Store& store) {
  using engine::EventKind;
  store::Run run;
  run.playbook = "bench";
  json::array nodes;
  for (int i = 0; i < kNodes; ++i) {
    run.nodes.push_back(fmt::format("r{:03}-n{:02}", i / 16, i % 16));
    nodes.push_back({{"name", run.nodes.back()},
                     {"rack", fmt::format("r{:03}", i / 16)},
                     {"unit", 1 + i % 16},
                     {"profile", "p"}});
  }
  const auto id = store.begin_run(run).value();
  auto first = event_of(EventKind::run_started, "", "",
                        {{"nodes", std::move(nodes)}, {"steps", {"bmc-facts", "gemm", "verdict"}}});
  (void)store.append(id, first).has_value();
  std::vector<engine::Event> events;
  for (const auto& node : run.nodes) {
    events.push_back(event_of(EventKind::step_began, node, "bmc-facts", {{"attempt", 1}}));
    events.push_back(event_of(EventKind::step_ended, node, "bmc-facts", {{"outcome", "done"}}));
    events.push_back(event_of(EventKind::step_began, node, "gemm", {{"attempt", 1}}));
  }
  for (std::size_t at = 0; at < events.size(); at += 1000)
    (void)store
        .append(id, std::span{events}.subspan(at, std::min<std::size_t>(1000, events.size() - at)))
        .has_value();
}

/// Streams that are open and read nothing.
struct OpenStreams {
  explicit OpenStreams(asio::ip::tcp::endpoint endpoint, const std::string& token, int count) {
    for (int i = 0; i < count; ++i) {
      auto& stream = streams.emplace_back(io, context);
      stream.lowest_layer().connect(endpoint);
      stream.handshake(asio::ssl::stream_base::client);
      asio::write(stream, asio::buffer("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n"
                                       "Authorization: Bearer " +
                                       token + "\r\n\r\n"));
    }
  }
  asio::io_context io{};
  asio::ssl::context context{asio::ssl::context::tls_client};
  std::list<asio::ssl::stream<asio::ip::tcp::socket>> streams{};
};

int bench(int seconds) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("cupel-api-bench-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::filesystem::permissions(folder, std::filesystem::perms::owner_all);
  auto store = store::Store::open(folder / "state").value();
  fill(*store);
  const auto now = report::wall_now();
  const auto token = store::AccessTokens::open(folder / "state")
                         .value()
                         .add({.name = "bench",
                               .role = "viewer",
                               .made = now,
                               .expires = now + std::chrono::hours{1}})
                         .value();
  std::ofstream{folder / "service.yaml"} << "requests_per_second: 1000000\n";
  std::filesystem::permissions(folder / "service.yaml", std::filesystem::perms{0600});
  api::ServiceOptions options;
  options.state = folder / "state";
  options.version = "bench";
  options.settings = (folder / "service.yaml").string();
  options.listen = {"127.0.0.1:0"};
  options.limits.connections_per_address = 2000;
  options.limits.connections = 2000;
  auto service = api::Service::open(options).value();
  service->start();
  const auto url = service->addresses().front();
  const asio::ip::tcp::endpoint endpoint{asio::ip::make_address("127.0.0.1"),
                                         number<std::uint16_t>(url.substr(18)).value_or(0)};
  for (const auto* path : {"/api/v1/runs", "/api/v1/runs/1", "/api/v1/runs/1/nodes?limit=100",
                           "/api/v1/runs/1/events?limit=100"}) {
    const auto before = cpu_seconds();
    const auto ran = testing::run({"wrk", "-t1", "-c8", "-d" + std::to_string(seconds), "--latency",
                                   "-H", "Authorization: Bearer " + token, url + path},
                                  {}, std::chrono::seconds{seconds + 60});
    fmt::print("{}\n{}{}CPU of the service {:.2f} s\n\n", path, ran.out, ran.err,
               cpu_seconds() - before);
  }
  const auto memory = resident_mib();
  {
    const OpenStreams streams{endpoint, token, kStreams};
    fmt::print("{} streams: {:.1f} MiB more, both ends\n", kStreams, resident_mib() - memory);
  }
  const auto idle = cpu_seconds();
  ::sleep(static_cast<unsigned>(seconds));
  fmt::print("idle: {:.3f} % of a core\n", 100 * (cpu_seconds() - idle) / seconds);
  service.reset();
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace cupel

int main(int argc, char** argv) { return cupel::bench(argc > 1 ? std::atoi(argv[1]) : 10); }

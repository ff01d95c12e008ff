// The API under load: reads of a store with a run of 10,000 nodes (by wrk, where it is installed),
// while it stands and while it works, and 500 open event streams. All of it on one core, with the
// clients on the others. Prints figures; needs a machine with nothing else to do:
//   api_bench [SECONDS]
// For page_bench.mjs: serves a site, and writes an event for each line "NODE STEP":
//   api_bench --serve NODES
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <boost/json.hpp>
#include <condition_variable>
#include <fstream>
#include <iostream>
#include <list>
#include <span>
#include <thread>

#include "base/text.h"
#include "orchestrator/api/service.h"
#include "orchestrator/cli/page_files.h"
#include "orchestrator/report/run_progress.h"
#include "orchestrator/store/store.h"
#include "tests/bench/beside.h"
#include "tests/bench/filled_site.h"
#include "tests/support/captures.h"
#include "tests/support/child.h"

namespace cupel::bench {
namespace {

using engine::EventKind;

constexpr int kNodes = 10'000;
constexpr int kStreams = 500;
constexpr const char* kTokenVariable = "CUPEL_BENCH_TOKEN";

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

/// This process and its threads to one core. Whether there are others for its clients.
bool keep_to_first_core() {
  cpu_set_t all{}, one{};
  ::sched_getaffinity(0, sizeof all, &all);
  CPU_SET(0, &one);
  return ::sched_setaffinity(0, sizeof one, &one) == 0 && CPU_COUNT(&all) > 1;
}

std::unique_ptr<api::Service> serve(const FilledSite& site) {
  constexpr std::size_t kConnections = 2000;
  api::ServiceOptions options;
  options.state = site.state();
  options.version = "bench";
  options.settings = site.settings();
  options.listen = {"127.0.0.1:0"};
  options.limits.connections_per_address = kConnections;
  options.limits.connections = kConnections;
  options.limits.strangers = kConnections;
  options.limits.strangers_per_address = kConnections;
  options.page = cli::page_files();
  options.page_policy = cli::page_policy();
  auto service = api::Service::open(std::move(options));
  if (!service) throw std::runtime_error{service.error().what};
  (*service)->start();
  return *std::move(service);
}

/// The run goes on: a step of some node ends and the next one begins, 200 events a second.
class WorkingRun {
 public:
  WorkingRun(const FilledSite& site, api::Service& service)
      : thread_{[&](const std::stop_token& stop) { work(site, service, stop); }} {}
  int events() const { return events_; }

 private:
  void work(const FilledSite& site, api::Service& service, const std::stop_token& stop) {
    constexpr std::chrono::milliseconds kTurn{50};
    constexpr int kNodesATurn = 5;
    const auto store = store::Store::open(site.state()).value();
    auto next = std::chrono::steady_clock::now();
    std::size_t node = 0;
    for (std::unique_lock lock{mutex_};; next += kTurn) {
      if (stopped_.wait_until(lock, stop, next, [&] { return stop.stop_requested(); })) return;
      std::vector<engine::Event> events;
      for (int i = 0; i < kNodesATurn; ++i, node = (node + 1) % site.nodes.size()) {
        const auto& name = site.nodes[node];
        events.push_back(event_of(EventKind::step_ended, name, "gemm", {{"outcome", "done"}}));
        events.push_back(event_of(EventKind::step_began, name, "gemm", {{"attempt", 1}}));
      }
      if (!store->append(site.run, events)) return;
      events_ += static_cast<int>(events.size());
      service.front().announce(controller::Weight::information, "");
    }
  }

  std::mutex mutex_{};
  std::condition_variable_any stopped_{};
  std::atomic<int> events_{0};
  std::jthread thread_;
};

/// "Requests/sec:  11601.33" of what wrk prints; 0 where it is not there.
double reads_a_second(std::string_view printed) {
  constexpr std::string_view kLabel = "Requests/sec:";
  for (const auto line : lines(printed))
    if (line.starts_with(kLabel))
      return number<double>(trimmed(line.substr(kLabel.size()))).value_or(0);
  return 0;
}

/// `how` is what the run does meanwhile.
void read_with_wrk(const std::string& url, const std::string& token, int seconds, bool apart,
                   std::string_view how) {
  constexpr double kAsked = 1000;  // reads a second on one core
  for (const auto* path : {"/api/v1/runs", "/api/v1/runs/1", "/api/v1/runs/1/nodes?limit=100",
                           "/api/v1/runs/1/events?limit=100", "/api/v1/nodes?limit=100"}) {
    std::vector<std::string> words{"wrk",
                                   "-t1",
                                   "-c8",
                                   "-d" + std::to_string(seconds),
                                   "--latency",
                                   "-H",
                                   "Authorization: Bearer " + token,
                                   url + path};
    if (apart) words.insert(words.begin(), {"taskset", "-c", "1-63"});
    const auto before = cpu_seconds();
    const auto ran = testing::run(words, {}, std::chrono::seconds{seconds + 60});
    fmt::print("{}\n{}{}CPU of the service {:.2f} s\n\n", path, ran.out, ran.err,
               cpu_seconds() - before);
    if (const auto reads = reads_a_second(ran.out); reads > 0)
      print_beside({.what = fmt::format("{}, the run {}", path, how),
                    .peer = "what is asked, by wrk",
                    .unit = "reads/s",
                    .ours = reads,
                    .theirs = kAsked,
                    .asked = ">= 1"});
  }
}

/// Streams that are open until standard input ends: in a process of their own, so that the memory
/// of their ends is not counted.
int hold_streams(std::uint16_t port) {
  const char* token = std::getenv(kTokenVariable);
  if (token == nullptr) return 2;
  asio::io_context io;
  asio::ssl::context context{asio::ssl::context::tls_client};
  std::list<asio::ssl::stream<asio::ip::tcp::socket>> streams;
  for (int i = 0; i < kStreams; ++i) {
    auto& stream = streams.emplace_back(io, context);
    stream.lowest_layer().connect({asio::ip::make_address("127.0.0.1"), port});
    stream.handshake(asio::ssl::stream_base::client);
    asio::write(stream, asio::buffer("GET /api/v1/stream HTTP/1.1\r\nHost: localhost\r\n"
                                     "Authorization: Bearer " +
                                     std::string{token} + "\r\n\r\n"));
    std::string head;
    asio::read_until(stream, asio::dynamic_buffer(head), "retry: 2000\n");
  }
  fmt::print("open\n");
  std::fflush(stdout);
  ::pause();  // until it is stopped
  return 0;
}

std::uint16_t port_of(const api::Service& service) {
  const auto& url = service.addresses().front();
  return number<std::uint16_t>(std::string_view{url}.substr(url.rfind(':') + 1)).value_or(0);
}

void measure_streams(const FilledSite& site, api::Service& service) {
  const auto before = resident_mib();
  testing::Child streams{{"/proc/self/exe", "--streams", std::to_string(port_of(service))},
                         {std::string{kTokenVariable} + "=" + site.token}};
  const bool open = streams.wait_for("open");
  if (open)
    fmt::print("{} streams: {:.1f} MiB more, {:.1f} MiB in all\n", kStreams,
               resident_mib() - before, resident_mib());
  else
    fmt::print("the streams were not opened\n");
  streams.signal(SIGKILL);
}

int bench(int seconds) {
  const bool apart = keep_to_first_core();
  const test::TemporaryFolder scratch;
  const auto site = fill_site(scratch.path(), kNodes);
  const auto service = serve(site);
  const auto& url = service->addresses().front();
  measure_streams(site, *service);
  fmt::print("\nthe run of {} nodes stands\n\n", kNodes);
  read_with_wrk(url, site.token, seconds, apart, "stands");
  fmt::print("the run of {} nodes works\n\n", kNodes);
  const auto began = std::chrono::steady_clock::now();
  const WorkingRun work{site, *service};
  read_with_wrk(url, site.token, seconds, apart, "works");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  fmt::print("meanwhile {:.0f} events a second were written\n", work.events() / took.count());
  return 0;
}

/// What an event takes from here to the screen is the page's to measure: it gets the time.
int serve_lines(int nodes) {
  const test::TemporaryFolder scratch;
  const auto site = fill_site(scratch.path(), nodes);
  const auto service = serve(site);
  const auto store = store::Store::open(site.state()).value();
  fmt::print("{} {} {}\n", service->addresses().front(), site.token, site.state().string());
  std::fflush(stdout);
  for (std::string node, step; std::cin >> node >> step;) {
    auto event = event_of(EventKind::step_began, node, step, {{"attempt", 1}});
    const auto now = report::wall_now();
    if (!store->append(site.run, event)) return 1;
    service->front().announce(controller::Weight::information, "");
    fmt::print("{} {} {}\n", node, step, now.time_since_epoch().count());
    std::fflush(stdout);
  }
  return 0;
}

int start(std::span<char*> words) {
  const std::string_view first = words.size() > 1 ? words[1] : "10";
  const bool has_number = words.size() > 2;
  if (first == "--serve" && has_number) return serve_lines(std::atoi(words[2]));
  if (first == "--streams" && has_number)
    return hold_streams(number<std::uint16_t>(words[2]).value_or(0));
  return bench(number<int>(first).value_or(10));
}

}  // namespace
}  // namespace cupel::bench

int main(int argc, char** argv) {
  try {
    return cupel::bench::start({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& failure) {
    fmt::print(stderr, "api_bench: {}\n", failure.what());
    return 1;
  }
}

#include "rehearsal/tools/nvbandwidth.h"

#include <fmt/format.h>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/gpu_work.h"

namespace cupel::rehearsal {
namespace {

/// One test. `share`: of the model's rate in that direction; bidirectional tests count both ways.
/// Latencies and rates by SM copies are shares of the same. Source: nvbandwidth's README.
struct TestCase {
  std::string_view name, about;
  bool between_gpus;
  double share;
};

constexpr auto kCases = std::to_array<TestCase>({
    {"host_to_device_memcpy_ce", "memcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)", false, 1},
    {"device_to_host_memcpy_ce", "memcpy CE CPU(row) <- GPU(column) bandwidth (GB/s)", false,
     0.994},
    {"host_to_device_bidirectional_memcpy_ce",
     "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)", false, 0.72},
    {"device_to_host_bidirectional_memcpy_ce",
     "memcpy CE CPU(row) <-> GPU(column) bandwidth (GB/s)", false, 0.72},
    {"device_to_device_memcpy_read_ce", "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)", true,
     0.985},
    {"device_to_device_memcpy_write_ce", "memcpy CE GPU(row) <- GPU(column) bandwidth (GB/s)", true,
     1},
    {"device_to_device_bidirectional_memcpy_read_ce",
     "memcpy CE GPU(row) <-> GPU(column) bandwidth (GB/s)", true, 1.95},
    {"device_to_device_bidirectional_memcpy_write_ce",
     "memcpy CE GPU(row) <-> GPU(column) bandwidth (GB/s)", true, 1.97},
    {"host_to_device_memcpy_sm", "memcpy SM CPU(row) -> GPU(column) bandwidth (GB/s)", false, 0.99},
    {"device_to_host_memcpy_sm", "memcpy SM CPU(row) <- GPU(column) bandwidth (GB/s)", false,
     0.985},
    {"device_to_device_memcpy_read_sm", "memcpy SM GPU(row) -> GPU(column) bandwidth (GB/s)", true,
     0.94},
    {"device_to_device_memcpy_write_sm", "memcpy SM GPU(row) <- GPU(column) bandwidth (GB/s)", true,
     0.97},
    {"device_local_copy", "memcpy local GPU(column) bandwidth (GB/s)", false, 0},
});

struct Request {
  bool json = false, list = false, help = false;
  int samples = 3;
  double buffer_mib = 512;
  std::vector<std::string> names{};
  std::string prefix{}, wrong{};
};

/// boost::program_options: "-t a b", "--testcase a", "--json".
Request read_request(const Arguments& arguments) {
  Request request;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    const auto value = [&] { return i + 1 < arguments.size() ? arguments[++i] : std::string{}; };
    if (word == "-j" || word == "--json") {
      request.json = true;
    } else if (word == "-l" || word == "--list") {
      request.list = true;
    } else if (word == "-h" || word == "--help") {
      request.help = true;
    } else if (word == "-t" || word == "--testcase") {
      while (i + 1 < arguments.size() && !arguments[i + 1].starts_with('-'))
        request.names.push_back(arguments[++i]);
    } else if (word == "-p" || word == "--testcasePrefixes") {
      request.prefix = value();
    } else if (word == "-i" || word == "--testSamples") {
      request.samples = std::clamp(number<int>(value()).value_or(3), 1, 10000);
    } else if (word == "-b" || word == "--bufferSize") {
      request.buffer_mib = std::clamp(number<double>(value()).value_or(512), 1.0, 65536.0);
    } else if (word != "-v" && word != "--verbose" && word != "-s" &&
               word != "--skipVerification" && word != "-d" && word != "--disableAffinity" &&
               word != "-m" && word != "--useMean") {
      request.wrong = fmt::format("unrecognised option '{}'", word);
      return request;
    }
  }
  return request;
}

using Matrix = std::vector<std::vector<std::optional<double>>>;

struct Outcome {
  const TestCase* test = nullptr;
  std::string name{}, status{};
  Matrix matrix{};
  double sum = 0, least = 0, most = 0, mean = 0;
};

double jitter(const Machine& machine, std::string_view test, int from, int to) {
  return Draw{2}
      .of(machine.hardware().serial)
      .of(test)
      .of(static_cast<std::uint64_t>(from))
      .of(static_cast<std::uint64_t>(to))
      .spread(0.0015);
}

double host_rate(const Machine& machine, const TestCase& test, const GpuView& gpu) {
  const bool local = test.name == "device_local_copy";
  const auto work = local ? Work::hbm : Work::pcie;
  const double nominal = local ? gpu.model.memory_rate * 0.9 : gpu.model.pcie_rate * test.share;
  return nominal * machine.physics().speed(gpu.part.index, work) *
         jitter(machine, test.name, gpu.part.index, gpu.part.index);
}

double pair_rate(const Machine& machine, const TestCase& test, const GpuView& from,
                 const GpuView& to) {
  const auto& physics = machine.physics();
  const double speed =
      std::min(physics.speed(from.part.index, Work::p2p), physics.speed(to.part.index, Work::p2p));
  // Without NVLink they copy over PCIe.
  const double reached = speed > 0 ? from.model.p2p_rate * speed : from.model.pcie_rate * 0.7;
  return reached * test.share * jitter(machine, test.name, from.part.index, to.part.index);
}

void measure(const Machine& machine, std::span<const GpuView> gpus, Outcome& outcome) {
  const auto& test = *outcome.test;
  if (test.between_gpus && gpus.size() < 2) {
    outcome.status = "Waived";
    return;
  }
  outcome.status = "Passed";
  if (!test.between_gpus) {
    auto& row = outcome.matrix.emplace_back();
    for (const auto& gpu : gpus) row.emplace_back(host_rate(machine, test, gpu));
  } else {
    for (const auto& from : gpus) {
      auto& row = outcome.matrix.emplace_back();
      for (const auto& to : gpus)
        row.push_back(from.index == to.index ? std::nullopt
                                             : std::optional{pair_rate(machine, test, from, to)});
    }
  }
  double count = 0;
  outcome.least = 1e18;
  for (const auto& row : outcome.matrix)
    for (const auto& value : row) {
      if (!value) continue;
      ++count;
      outcome.sum += *value;
      outcome.least = std::min(outcome.least, *value);
      outcome.most = std::max(outcome.most, *value);
    }
  outcome.mean = outcome.sum / count;
}

json::object as_json(const Outcome& outcome) {
  if (outcome.status != "Passed") return {{"name", outcome.name}, {"status", outcome.status}};
  json::array matrix;
  for (const auto& row : outcome.matrix) {
    json::array cells;
    for (const auto& value : row)
      cells.push_back(json::value(value ? fmt::format("{:g}", *value) : "N/A"));
    matrix.push_back(std::move(cells));
  }
  return {{"average", outcome.mean},
          {"bandwidth_description", std::string{outcome.test->about} + " "},
          {"bandwidth_matrix", std::move(matrix)},
          {"max", outcome.most},
          {"min", outcome.least},
          {"name", outcome.name},
          {"status", outcome.status},
          {"sum", outcome.sum}};
}

std::string as_text(const Outcome& outcome) {
  auto text = "Running " + outcome.name + ".\n";
  if (outcome.status != "Passed") return text + outcome.status + ": \n\n";
  text += std::string{outcome.test->about} + "\n          ";
  for (std::size_t i = 0; i < outcome.matrix.front().size(); ++i) text += fmt::format("{:>10}", i);
  text += "\n";
  for (std::size_t r = 0; r < outcome.matrix.size(); ++r) {
    text += fmt::format("{:>10}", r);
    for (const auto& value : outcome.matrix[r])
      text += value ? fmt::format("{:>10.2f}", *value) : fmt::format("{:>10}", "N/A");
    text += "\n";
  }
  return text + fmt::format("\nSUM {} {:.2f}\n\n", outcome.name, outcome.sum);
}

std::string heading(Host& host, std::span<const GpuView> gpus, const std::string& driver) {
  auto text = fmt::format(
      "nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n\nCUDA Runtime Version: 13010\n"
      "CUDA Driver Version: 13010\nDriver Version: {}\n\n{}\n",
      driver, host.machine().name());
  for (const auto& gpu : gpus)
    text += fmt::format("Device {}: {} ({}:{}:{})\n", gpu.index, gpu.product(),
                        "0000" + gpu.part.pci.substr(0, 4), gpu.part.pci.substr(5, 2),
                        gpu.part.pci.substr(8, 2));
  return text + "\n";
}

std::vector<Outcome> chosen(const Request& request) {
  std::vector<Outcome> all;
  for (std::size_t i = 0; i < kCases.size(); ++i) {
    const auto& test = kCases[i];
    const bool named = request.names.empty() ||
                       std::ranges::count(request.names, std::to_string(i)) > 0 ||
                       std::ranges::count(request.names, test.name) > 0;
    const bool fits = request.prefix.empty() || test.name.starts_with(request.prefix);
    if (named && fits) all.push_back({.test = &test, .name = std::string{test.name}});
  }
  for (const auto& name : request.names) {
    const bool known = std::ranges::any_of(all, [&](const Outcome& one) {
      return one.name == name ||
             (number<std::size_t>(name) &&
              &kCases[std::min(*number<std::size_t>(name), kCases.size() - 1)] == one.test);
    });
    if (!known) all.push_back({.name = name, .status = "Not Found"});
  }
  return all;
}

/// Each sample moves the buffer to and from every GPU, or between every two.
VirtualTime span_of(const Outcome& outcome, const Request& request) {
  double seconds = 0.3;
  for (const auto& row : outcome.matrix)
    for (const auto& value : row)
      if (value && *value > 0)
        seconds += request.samples * 16 * request.buffer_mib * 1048576 / (*value * 1e9);
  return VirtualTime{seconds};
}

std::string report(const Request& request, Host& host, std::span<const GpuView> gpus,
                   const std::string& driver, std::span<const Outcome> outcomes,
                   const std::string& error) {
  if (!request.json) {
    std::string text = heading(host, gpus, driver);
    for (const auto& outcome : outcomes) text += as_text(outcome);
    return text;
  }
  json::object about{{"CUDA Runtime Version", 13010}, {"Driver Version", driver}};
  about["git_version"] = "v0.8";
  if (!error.empty()) about["error"] = error;
  json::array tests;
  for (const auto& outcome : outcomes) tests.push_back(as_json(outcome));
  about["testcases"] = std::move(tests);
  about["version"] = "v0.8";
  const json::object all{{"nvbandwidth", std::move(about)}};
  return json::serialize(all) + "\n";
}

}  // namespace

Task<int> nvbandwidth(ProcessPtr process, Arguments arguments) {
  const auto request = read_request(arguments);
  if (!request.wrong.empty()) {
    const auto line = "ERROR: " + request.wrong + "\n";
    co_await process->say(line);
    co_return 1;
  }
  if (request.list || request.help) {
    std::string text = "Index, Name:\n\tDescription\n=======================\n";
    for (std::size_t i = 0; i < kCases.size(); ++i)
      text += fmt::format("{}, {}:\n\t{}\n\n", i, kCases[i].name, kCases[i].about);
    co_await process->say(text);
    co_return 0;
  }
  auto& host = process->host;
  const auto driver = driver_version(host.machine().hardware());
  const auto gpus = cuda_devices(host);
  if (const auto trouble = cuda_error(host)) {
    const auto text =
        request.json
            ? report(request, host, gpus, driver, {},
                     fmt::format("[{}] {} in expression cuInit(0)", trouble->name, trouble->text))
            : fmt::format("[{}] {} in expression cuInit(0) in main() : nvbandwidth.cpp:233\n",
                          trouble->name, trouble->text);
    co_await process->say(text);
    co_return 1;
  }
  std::vector<int> places;
  for (const auto& gpu : gpus) places.push_back(gpu.part.index);
  auto outcomes = chosen(request);
  std::string error;
  bool missing = false;
  for (auto& outcome : outcomes) {
    missing |= outcome.test == nullptr;
    if (outcome.test == nullptr) continue;
    GpuWork load{process, "nvbandwidth", outcome.test->between_gpus ? Work::p2p : Work::pcie,
                 places, static_cast<int>(request.buffer_mib) + 600};
    measure(host.machine(), gpus, outcome);
    const bool good = co_await load.last(span_of(outcome, request));
    if (process->fatal() != 0) co_return 128 + process->fatal();
    if (good) continue;
    outcome.status = "Error";
    error = fmt::format("[CUDA_ERROR_UNKNOWN] unknown error in expression cuStreamSynchronize");
    break;
  }
  const auto text = report(request, host, gpus, driver, outcomes, error);
  co_await process->say(text);
  co_return error.empty() && !missing ? 0 : 1;
}

}  // namespace cupel::rehearsal

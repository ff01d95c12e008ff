// nccl-tests 2.17: all_reduce_perf and its sisters, one process with the node's GPUs.
#include "rehearsal/tools/nccl.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_work.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

/// One program. Bus bandwidth is algorithm bandwidth times (a + b / n).
/// Source: NVIDIA/nccl-tests, PERFORMANCE.md.
struct Collective {
  std::string_view program, file;
  bool reduces, rooted, summed_in_switch;
  double (*factor)(double ranks);
  double GpuModel::* rate;
};

double whole(double) { return 1; }
double others(double ranks) { return (ranks - 1) / ranks; }
double twice_others(double ranks) { return 2 * (ranks - 1) / ranks; }

constexpr auto kCollectives = std::to_array<Collective>({
    {"all_reduce_perf", "all_reduce.cu", true, false, true, twice_others, &GpuModel::ring_rate},
    {"all_gather_perf", "all_gather.cu", false, false, false, others, &GpuModel::gather_rate},
    {"reduce_scatter_perf", "reduce_scatter.cu", true, false, false, others,
     &GpuModel::gather_rate},
    {"alltoall_perf", "alltoall.cu", false, false, false, others, &GpuModel::p2p_rate},
    {"sendrecv_perf", "sendrecv.cu", false, false, false, whole, &GpuModel::p2p_rate},
    {"broadcast_perf", "broadcast.cu", false, true, false, whole, &GpuModel::gather_rate},
    {"reduce_perf", "reduce.cu", true, true, false, whole, &GpuModel::gather_rate},
});

struct Request {
  double from = 33554432, to = 33554432, factor = 1, step = 1048576;
  int gpus = 1, iterations = 20, warmup = 1, agg = 1, check = 1, root = 0;
  std::string operation = "sum", type = "float", file{};
  std::string wrong{};
  bool help = false;
};

constexpr std::string_view kLetters = "tgbeifnmwNpcodrzyhGCaRSJTI";

/// The letter of a long option; 0 where there is none.
char letter_of(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, char>, 18> kLong{{
      {"nthreads", 't'},
      {"ngpus", 'g'},
      {"minbytes", 'b'},
      {"maxbytes", 'e'},
      {"stepbytes", 'i'},
      {"stepfactor", 'f'},
      {"iters", 'n'},
      {"agg_iters", 'm'},
      {"warmup_iters", 'w'},
      {"run_cycles", 'N'},
      {"parallel_init", 'p'},
      {"check", 'c'},
      {"op", 'o'},
      {"datatype", 'd'},
      {"root", 'r'},
      {"timeout", 'T'},
      {"output_file", 'J'},
      {"help", 'h'},
  }};
  const auto* found = std::ranges::find(kLong, name, &std::pair<std::string_view, char>::first);
  return found == kLong.end() ? '\0' : found->second;
}

void set(Request& request, char letter, const std::string& value) {
  const auto whole_number = [&](int otherwise) { return number<int>(value).value_or(otherwise); };
  if (letter == 'g') request.gpus = std::max(1, whole_number(1));
  if (letter == 'b') request.from = parse_size(value).value_or(request.from);
  if (letter == 'e') request.to = parse_size(value).value_or(request.to);
  if (letter == 'i') request.step = parse_size(value).value_or(request.step);
  if (letter == 'f') request.factor = number<double>(value).value_or(1);
  if (letter == 'n') request.iterations = std::clamp(whole_number(20), 1, 100000);
  if (letter == 'w') request.warmup = std::clamp(whole_number(1), 0, 100000);
  if (letter == 'm') request.agg = std::clamp(whole_number(1), 1, 1000);
  if (letter == 'c') request.check = whole_number(1);
  if (letter == 'r') request.root = whole_number(0);
  if (letter == 'o') request.operation = value;
  if (letter == 'd') request.type = value;
  if (letter == 'J') request.file = value;
}

Request read_request(const Arguments& arguments) {
  Request request;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word.size() < 2 || word[0] != '-') continue;
    const bool is_long = word.starts_with("--");
    const auto equals = word.find('=');
    const char letter = is_long ? letter_of(std::string_view{word}.substr(
                                      2, equals == word.npos ? word.npos : equals - 2))
                                : word[1];
    if (letter == 'h') request.help = true;
    if (letter == '\0' || !kLetters.contains(letter)) {
      request.wrong = word;
      return request;
    }
    if (letter == 'h') continue;
    const bool joined = is_long ? equals != word.npos : word.size() > 2;
    const auto value = joined                     ? word.substr(is_long ? equals + 1 : 2)
                       : i + 1 < arguments.size() ? arguments[++i]
                                                  : std::string{};
    set(request, letter, value);
  }
  return request;
}

double bytes_of(std::string_view type) {
  if (type == "double" || type == "int64" || type == "uint64") return 8;
  if (type == "half" || type == "bfloat16") return 2;
  if (type == "int8" || type == "uint8" || type.starts_with("f8")) return 1;
  return 4;
}

/// As nccl-tests fits a time into seven places.
std::string time_text(double micros) {
  if (micros > 10000.0) return fmt::format("{:7.0f}", micros);
  if (micros > 100.0) return fmt::format("{:7.1f}", micros);
  return fmt::format("{:7.2f}", micros);
}

struct Measured {
  double micros = 0, algorithm = 0, bus = 0;
  std::uint64_t wrong = 0;
};

struct Line {
  double size = 0;
  std::uint64_t count = 0;
  Measured out{}, in{};
};

class Run {
 public:
  Run(ProcessPtr process, const Collective& what, Request request, std::vector<GpuView> gpus)
      : process_{std::move(process)},
        what_{what},
        request_{std::move(request)},
        gpus_{std::move(gpus)} {}

  Task<int> work();

 private:
  std::string header() const;
  bool switched() const;
  double ceiling() const;
  Measured measure(double size, double speed, bool in_place) const;
  std::string line_text(const Line& line) const;
  std::string footer() const;
  void save() const;
  std::vector<double> sizes() const;

  ProcessPtr process_;
  const Collective& what_;
  Request request_;
  std::vector<GpuView> gpus_;
  std::vector<Line> lines_{};
};

std::string Run::header() const {
  const auto& name = process_->host.machine().name();
  auto text = fmt::format(
      "# nThread 1 nGpus {} minBytes {:.0f} maxBytes {:.0f} step: {}({}) warmup iters: {} iters: "
      "{} agg iters: {} validation: {} graph: 0\n#\n# Using devices\n",
      request_.gpus, request_.from, request_.to,
      plain(request_.factor > 1 ? request_.factor : request_.step),
      request_.factor > 1 ? "factor" : "bytes", request_.warmup, request_.iterations, request_.agg,
      request_.check);
  for (std::size_t i = 0; i < gpus_.size(); ++i)
    text += fmt::format("#  Rank {:>2} Group  0 Pid {:>6} on {:>10} device {:>2} [0x{}] {}\n", i,
                        process_->number, name, gpus_[i].index, gpus_[i].part.pci.substr(5, 2),
                        gpus_[i].product());
  // Its log, where it is asked for, comes out among the table's lines.
  const auto log = process_->environment.find("NCCL_DEBUG");
  if (log != process_->environment.end() && log->second == "INFO")
    text += fmt::format(
        "{0}:{1}:{1} [0] NCCL INFO NVLS multicast support is {2}available on dev 0\nNCCL version "
        "2.28.9+cuda13.0\n",
        name, process_->number, switched() ? "" : "not ");
  return text +
         "#\n"
         "#                                                              out-of-place              "
         " "
         "        in-place          \n"
         "#       size         count      type   redop    root     time   algbw   busbw #wrong     "
         "time   algbw   busbw #wrong\n"
         "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            "
         "(us)  (GB/s)  (GB/s)       \n";
}

/// Reductions in the switches pay off from five GPUs on (stas00/ml-engineering, network).
bool Run::switched() const {
  const auto off = process_->environment.find("NCCL_NVLS_ENABLE");
  return gpus_.size() > 4 && (off == process_->environment.end() || off->second != "0");
}

/// The bus bandwidth of very large messages, in GB/s.
double Run::ceiling() const {
  const auto& model = gpus_.front().model;
  return what_.summed_in_switch && switched() ? model.switch_rate : model.*what_.rate;
}

Measured Run::measure(double size, double speed, bool in_place) const {
  constexpr double kStart = 24e-6, kRamp = 4e6;  // latency; half of the rate is reached here
  const double ranks = static_cast<double>(gpus_.size()), factor = what_.factor(ranks);
  const auto& machine = process_->host.machine();
  const auto draw = Draw{1}
                        .of(machine.hardware().serial)
                        .of(what_.program)
                        .of(static_cast<std::uint64_t>(size))
                        .of(in_place ? 1 : 0);
  // Without NVLink it goes over PCIe and the host's memory.
  const double reached = speed > 0 ? ceiling() * speed : gpus_.front().model.pcie_rate * 0.4;
  const double rate = reached * 1e9 * draw.spread(0.004);
  const double moved =
      gpus_.size() > 1 ? size * factor / (rate * size / (size + kRamp)) : size / 2e12;
  const double seconds = size > 0 ? kStart + moved : kStart;
  Measured measured{.micros = seconds * 1e6, .algorithm = size / seconds / 1e9};
  measured.bus = measured.algorithm * factor;
  // Sums are made on a few SMs: a bad one is not always among them.
  for (const auto& gpu : gpus_) {
    const bool bad = fault_now(machine, FaultKind::gpu_wrong_results, gpu.part.name) != nullptr;
    if (bad && what_.reduces && size >= 1e6 && draw.of("wrong").uniform() < 0.3)
      measured.wrong = 1 + draw.of("how many").bits() % 64;
  }
  return measured;
}

std::string Run::line_text(const Line& line) const {
  const auto cells = [&](const Measured& one) {
    const auto wrong = request_.check > 0 ? fmt::format("{:>5}", one.wrong) : std::string{"  N/A"};
    return fmt::format("  {}  {:6.2f}  {:6.2f}  {}", time_text(one.micros), one.algorithm, one.bus,
                       wrong);
  };
  return fmt::format("{:>12.0f}  {:>12}  {:>8}  {:>6}  {:>6}", line.size, line.count, request_.type,
                     what_.reduces ? request_.operation : "none",
                     what_.rooted ? request_.root : -1) +
         cells(line.out) + cells(line.in) + "\n";
}

double average_of(std::span<const Line> lines) {
  double sum = 0;
  for (const auto& line : lines) sum += line.out.bus + line.in.bus;
  return lines.empty() ? 0 : sum / 2 / static_cast<double>(lines.size());
}

std::uint64_t wrong_in(std::span<const Line> lines) {
  std::uint64_t wrong = 0;
  for (const auto& line : lines) wrong += line.out.wrong + line.in.wrong;
  return wrong;
}

std::string Run::footer() const {
  const auto wrong = request_.check > 0 ? wrong_in(lines_) : 0;
  return fmt::format("# Out of bounds values : {} {}\n# Avg bus bandwidth    : {:g} \n#\n", wrong,
                     wrong > 0 ? "FAILED" : "OK", average_of(lines_));
}

std::vector<double> Run::sizes() const {
  constexpr std::size_t kMost = 256;
  std::vector<double> all;
  for (double size = request_.from; size <= request_.to && all.size() < kMost;
       size = request_.factor > 1 ? size * request_.factor : size + request_.step)
    all.push_back(size);
  return all;
}

/// `-J`: the file that nccl-tests writes beside its text.
void Run::save() const {
  if (request_.file.empty()) return;
  json::array results, devices;
  const auto way = [](const Measured& one) {
    return json::object{{"time", one.micros},
                        {"alg_bw", one.algorithm},
                        {"bus_bw", one.bus},
                        {"nwrong", one.wrong}};
  };
  for (const auto& line : lines_)
    results.push_back(json::object{{"size", static_cast<std::uint64_t>(line.size)},
                                   {"count", line.count},
                                   {"type", request_.type},
                                   {"redop", what_.reduces ? request_.operation : "none"},
                                   {"root", what_.rooted ? request_.root : -1},
                                   {"out_of_place", way(line.out)},
                                   {"in_place", way(line.in)}});
  for (std::size_t i = 0; i < gpus_.size(); ++i)
    devices.push_back(json::object{{"group", 0},
                                   {"rank", i},
                                   {"pid", process_->number},
                                   {"hostname", process_->host.machine().name()},
                                   {"device", gpus_[i].index},
                                   {"device_hex", "0x" + gpus_[i].part.pci.substr(5, 2)},
                                   {"device_info", gpus_[i].product()}});
  const auto wrong = wrong_in(lines_);
  const json::object all{
      {"version", 3},
      {"nccl_version", "22809"},
      {"devices", std::move(devices)},
      {"results", std::move(results)},
      {"out_of_bounds", json::object{{"count", wrong}, {"okay", wrong == 0}}},
      {"average_bus_bandwidth", json::object{{"bandwidth", average_of(lines_)}, {"okay", true}}}};
  save_text(*process_, request_.file, json::serialize(all) + "\n");
}

Task<int> Run::work() {
  std::vector<int> places;
  for (const auto& gpu : gpus_) places.push_back(gpu.part.index);
  const auto begin = header();
  co_await process_->say(begin);
  GpuWork load{process_, std::string{what_.program}, Work::collective, std::move(places),
               static_cast<int>(request_.to * 2 / 1048576) + 1200};
  constexpr VirtualTime kSetUp{3};
  bool going = co_await load.last(kSetUp);
  for (const double size : sizes()) {
    if (!going) break;
    Line line{.size = size, .count = static_cast<std::uint64_t>(size / bytes_of(request_.type))};
    line.out = measure(size, load.slowest(), false);
    line.in = measure(size, load.slowest(), true);
    const double rounds = (request_.warmup + request_.iterations) * request_.agg;
    const VirtualTime span{rounds * (line.out.micros + line.in.micros) * 1e-6};
    going = co_await load.last(span);
    if (!going) break;
    lines_.push_back(line);
    const auto text = line_text(line);
    co_await process_->say(text);
  }
  if (!load.fallen().empty()) {
    const auto failure = fmt::format(
        "{} pid {}: Test NCCL failure {}:57 'unhandled cuda error (run with NCCL_DEBUG=INFO for "
        "details) / '\n .. {} pid {}: Test failure common.cu:413\n",
        process_->host.machine().name(), process_->number, what_.file,
        process_->host.machine().name(), process_->number);
    co_await process_->say(failure);
    co_return 3;
  }
  if (process_->fatal() != 0) co_return 128 + process_->fatal();
  const auto end = footer();
  co_await process_->say(end);
  save();
  co_return request_.check > 0 && wrong_in(lines_) > 0 ? 1 : 0;
}

}  // namespace

Task<int> nccl_test(ProcessPtr process, Arguments arguments) {
  const auto name = arguments[0].substr(arguments[0].rfind('/') + 1);
  const auto* what = std::ranges::find(kCollectives, name, &Collective::program);
  if (what == kCollectives.end()) what = kCollectives.begin();
  const auto request = read_request(arguments);
  if (!request.wrong.empty() || request.help) {
    auto text = request.wrong.empty() ? std::string{} : "invalid option '?'\n";
    text += fmt::format(
        "USAGE: {} \n\t[-t,--nthreads <num threads>] \n\t[-g,--ngpus <gpus per thread>] "
        "\n\t[-b,--minbytes <min size in bytes>] \n\t[-e,--maxbytes <max size in bytes>] "
        "\n\t[-i,--stepbytes <increment size>] \n\t[-f,--stepfactor <increment factor>] "
        "\n\t[-n,--iters <iteration count>] \n\t[-w,--warmup_iters <warmup iteration count>] "
        "\n\t[-c,--check <check iteration count>] \n\t[-J,--output_file <file>] \n\t[-h,--help]\n",
        name);
    co_await process->say(text);
    co_return 0;
  }
  const auto& node = process->host.machine().name();
  if (const auto trouble = cuda_error(process->host)) {
    const auto text = fmt::format(
        "{0} pid {1}: Test CUDA failure common.cu:1030 '{2}'\n .. {0} pid {1}: Test failure "
        "common.cu:944\n",
        node, process->number, trouble->text);
    co_await process->say(text);
    co_return 2;
  }
  auto gpus = cuda_devices(process->host);
  if (request.gpus > static_cast<int>(gpus.size())) {
    const auto text = fmt::format(
        "Invalid number of GPUs: {} requested but only {} were found.\nPlease check the number of "
        "processes and GPUs per process.\n",
        request.gpus, gpus.size());
    co_await process->say(text);
    co_return 1;
  }
  gpus.resize(static_cast<std::size_t>(request.gpus));
  Run run{process, *what, request, std::move(gpus)};
  co_return co_await run.work();
}

}  // namespace cupel::rehearsal

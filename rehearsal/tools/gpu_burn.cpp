#include "rehearsal/tools/gpu_burn.h"

#include <fmt/format.h>

#include "base/text.h"
#include "rehearsal/physics/random.h"
#include "rehearsal/shell/host.h"
#include "rehearsal/tools/fault_now.h"
#include "rehearsal/tools/gpu_work.h"
#include "rehearsal/tools/streams.h"

namespace cupel::rehearsal {
namespace {

constexpr double kFlopOfProduct = 8192.0 * 8192 * 8192 * 2;  // of gpu_burn's matrices

struct Request {
  bool doubles = false, tensor = false;
  int seconds = 10;
};

Request read_request(const Arguments& arguments) {
  Request request;
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const auto& word = arguments[i];
    if (word == "-d") request.doubles = true;
    if (word == "-tc") request.tensor = true;
    if (word == "-m" || word == "-i" || word == "-c" || word == "-stts") ++i;
    if (const auto seconds = number<int>(word); seconds && *seconds > 0) request.seconds = *seconds;
  }
  return request;
}

struct Client {
  int place = 0;
  std::string name{};
  double products = 0;
  std::int64_t errors = 0;  // since the last summary
  bool faulty = false, died = false;
};

class Burn {
 public:
  Burn(ProcessPtr process, Request request) : process_{std::move(process)}, request_{request} {
    for (const auto& gpu : cuda_devices(process_->host))
      clients_.push_back({gpu.part.index, gpu.part.name});
  }
  Task<int> run();

 private:
  void work(double seconds);
  std::string greeting() const;
  std::string drawn(double percent) const;
  std::string ending() const;
  double gigaflops(const Client& client) const;

  ProcessPtr process_;
  Request request_;
  std::vector<Client> clients_{};
  std::uint64_t rounds_ = 0;
};

/// Of the peak of its units gpu_burn reaches seven tenths, as gpu-fryer's README has them (H100,
/// TF32: 373 of 495 TFLOP/s).
double Burn::gigaflops(const Client& client) const {
  const auto& host = process_->host;
  const auto gpus = look_at_gpus(process_->host).gpus;
  const auto gpu = std::ranges::find(gpus, client.place, [](auto& one) { return one.part.index; });
  if (gpu == gpus.end()) return 0;
  const double of_clock = request_.doubles ? 256 : request_.tensor ? 2048 : 256;
  const double peak = gpu->model.sms * gpu->model.max_sm_mhz * 1e-3 * of_clock;
  const double draw = Draw{9}.of(client.name).of(rounds_).spread(0.004);
  return peak * 0.7 * host.machine().physics().speed(client.place, Work::gemm) * draw;
}

void Burn::work(double seconds) {
  ++rounds_;
  for (auto& client : clients_) {
    if (client.died) continue;
    client.products += gigaflops(client) * 1e9 / kFlopOfProduct * seconds;
    const auto* wrong =
        fault_now(process_->host.machine(), FaultKind::gpu_wrong_results, client.name);
    const auto draw = Draw{10}.of(client.name).of(rounds_);
    if (wrong == nullptr || draw.of("wrong").uniform() > 0.5) continue;
    client.errors += static_cast<std::int64_t>(1 + draw.of("how many").bits() % 4096);
    client.faulty = true;
  }
}

std::string Burn::greeting() const {
  std::string text = fmt::format("Using compare file: compare.fatbin\nBurning for {} seconds.\n",
                                 request_.seconds);
  for (const auto& gpu : cuda_devices(process_->host))
    text += fmt::format("GPU {}: {} (UUID: {})\n", gpu.index, gpu.product(), gpu.part.uuid);
  for (std::size_t i = 0; i < clients_.size(); ++i)
    text += fmt::format(
        "Initialized device {} with 81079 MB of memory (80512 MB available, using 72461 MB of "
        "it), using {}{}\nResults are 268435456 bytes each, thus performing 281 iterations\n",
        i, request_.doubles ? "DOUBLES" : "FLOATS", request_.tensor ? ", using Tensor Cores" : "");
  return text;
}

std::string Burn::drawn(double percent) const {
  auto text = fmt::format("\r{:.1f}%  proc'd: ", percent);
  const auto gpus = look_at_gpus(process_->host).gpus;
  std::string errors, heat, power;
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    const auto& client = clients_[i];
    const auto* apart = i + 1 < clients_.size() ? "- " : "";
    const auto products = client.died ? -1 : static_cast<std::int64_t>(client.products);
    text += fmt::format("{} ({:.0f} Gflop/s) {}", products, gigaflops(client), apart);
    const auto* note = client.died ? " (DIED!)" : client.errors != 0 ? " (WARNING!)" : "";
    errors += fmt::format("{} {}{}", client.errors, note, apart);
    const auto gpu =
        std::ranges::find(gpus, client.place, [](auto& one) { return one.part.index; });
    const bool reported = gpu != gpus.end() && !gpu->lost;
    heat += (reported ? fmt::format("{} C ", gpu->celsius) : std::string{"-- "}) + apart;
    power += (reported ? fmt::format("{:.0f} W ", gpu->watts) : std::string{"-- "}) + apart;
  }
  return text + "  errors: " + errors + "  temps: " + heat + "  power: " + power;
}

std::string Burn::ending() const {
  std::string text = "\nKilling processes with SIGTERM (soft kill)\n";
  for (std::size_t i = 0; i < clients_.size(); ++i)
    text += fmt::format("Freed memory for dev {}\nUninitted cublas\n", i);
  text += fmt::format("done\n\nTested {} GPUs:\n", clients_.size());
  for (std::size_t i = 0; i < clients_.size(); ++i)
    text += fmt::format("\tGPU {}: {}\n", i, clients_[i].faulty ? "FAULTY" : "OK");
  return text;
}

Task<int> Burn::run() {
  const auto begin = greeting();
  co_await process_->say(begin);
  std::vector<int> places;
  for (const auto& client : clients_) places.push_back(client.place);
  GpuWork load{process_, "gpu_burn", Work::gemm, places, 72461};
  constexpr int kSteps = 50;
  const VirtualTime step{static_cast<double>(request_.seconds) / kSteps};
  double next = 10;
  for (int i = 1; i <= kSteps; ++i) {
    const bool going = co_await load.last(step);
    if (process_->fatal() != 0) co_return 128 + process_->fatal();
    work(step.count());
    for (auto& client : clients_)
      if (!going && client.name == load.fallen()) client.died = client.faulty = true;
    const double percent = 100.0 * i / kSteps;
    auto line = drawn(percent);
    if (percent > next) {
      next = percent + 10;
      line += "\n\tSummary at:   Tue Jun  3 12:00:00 UTC 2025\n\n";
      for (auto& client : clients_) client.errors = 0;
    }
    co_await process_->say(line);
  }
  const auto end = ending();
  co_await process_->say(end);
  co_return 0;
}

}  // namespace

Task<int> gpu_burn(ProcessPtr process, Arguments arguments) {
  const auto request = read_request(arguments);
  if (std::ranges::count(arguments, "-h") > 0) {
    co_await process->say("GPU Burn\nUsage: gpu-burn [OPTIONS] [TIME]\n");
    co_return 0;
  }
  if (const auto trouble = cuda_error(process->host)) {
    const auto text = fmt::format(
        "Couldn't init a GPU test: Error in \"init\": {}\nNo clients are alive!  Aborting\n",
        trouble->text);
    co_await process->print_error(text);
    co_return 123;  // ENOMEDIUM
  }
  Burn burn{process, request};
  co_return co_await burn.run();
}

}  // namespace cupel::rehearsal

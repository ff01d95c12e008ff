#include "burnin/agent/burn/cuda/pcie_lane.h"

#include <algorithm>
#include <atomic>
#include <chrono>

#include "burnin/agent/burn/cuda/link_kernels.h"
#include "burnin/agent/burn/links/host_words.h"

namespace cupel::burn {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kAnswer = 64;  // words after the question: another cache line, and far off
constexpr int kPoison = 0xa5;

double microseconds_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
}

}  // namespace

Outcome<Lane> Lane::open(std::optional<int> node, std::size_t bytes, std::uint64_t seed) {
  Lane lane;
  lane.words_ = bytes / 8;
  lane.host_seed_ = mixed(seed);
  lane.gpu_seed_ = mixed(seed + 1);
  TRY(lane.sent_, HostMemory::on(node, bytes));
  TRY(lane.received_, HostMemory::on(node, bytes));
  TRY(lane.flags_, HostMemory::on(node, kPage));
  TRY(lane.arrived_, device_memory(bytes));
  TRY(lane.source_, device_memory(bytes));
  TRY(lane.found_, Counter::create());
  TRY(lane.down_, new_stream());
  TRY(lane.up_, new_stream());
  TRY(lane.begin_, new_event());
  TRY(lane.end_, new_event());
  TRY(lane.up_end_, new_event());
  fill_on_host(lane.sent_.words(), lane.host_seed_);
  return lane;
}

Outcome<> Lane::prepare(Way way) {
  if (way != Way::kToHost) {
    TRY(cuda(cudaMemsetAsync(arrived_.get(), kPoison, words_ * 8, down_.get()),
             "poisoning memory"));
    TRY(cuda(cudaStreamSynchronize(down_.get()), "poisoning memory"));
  }
  if (way != Way::kToGpu) {
    gpu_seed_ = mixed(gpu_seed_);  // what an earlier pass left is of another seed
    fill_words(static_cast<std::uint64_t*>(source_.get()), words_, gpu_seed_, up_.get());
    TRY(launched("filling memory"));
    TRY(cuda(cudaStreamSynchronize(up_.get()), "filling memory"));
  }
  return done();
}

Outcome<double> Lane::copy(Way way) {
  const auto bytes = words_ * 8;
  TRY(cuda(cudaEventRecord(begin_.get(), down_.get()), "beginning a copy"));
  TRY(cuda(cudaStreamWaitEvent(up_.get(), begin_.get()), "beginning a copy"));
  if (way != Way::kToHost) {
    TRY(cuda(cudaMemcpyAsync(arrived_.get(), sent_.bytes().data(), bytes, cudaMemcpyHostToDevice,
                             down_.get()),
             "copying to the GPU"));
  }
  if (way != Way::kToGpu) {
    TRY(cuda(cudaMemcpyAsync(received_.bytes().data(), source_.get(), bytes, cudaMemcpyDeviceToHost,
                             up_.get()),
             "copying from the GPU"));
  }
  TRY(cuda(cudaEventRecord(up_end_.get(), up_.get()), "ending a copy"));
  TRY(cuda(cudaStreamWaitEvent(down_.get(), up_end_.get()), "ending a copy"));
  TRY(cuda(cudaEventRecord(end_.get(), down_.get()), "ending a copy"));
  TRY(cuda(cudaStreamSynchronize(down_.get()), "waiting for a copy"));
  TRY(const double milliseconds, milliseconds_between(begin_, end_));
  const double moved = static_cast<double>(bytes) * (way == Way::kBoth ? 2 : 1);
  return moved / (milliseconds * 1e6);
}

Outcome<Lane::Wrong> Lane::check(Way way) {
  Wrong wrong{};
  if (way != Way::kToHost) {
    TRY(found_.clear(down_.get()));
    check_words(static_cast<const std::uint64_t*>(arrived_.get()), words_, host_seed_,
                found_.on_device(), down_.get());
    TRY(launched("checking memory"));
    TRY(wrong.to_gpu, found_.read(down_.get()));
  }
  if (way != Way::kToGpu) wrong.to_host = check_on_host(received_.words(), gpu_seed_);
  return wrong;
}

Outcome<> Lane::plant_on_gpu(std::uint64_t word, int bit) {
  flip_bit(arrived_.get(), word * 2 + (bit >= 32 ? 1 : 0), bit % 32, down_.get());
  TRY(launched("turning over a bit"));
  return cuda(cudaStreamSynchronize(down_.get()), "turning over a bit");
}

void Lane::plant_on_host(std::uint64_t word, int bit) {
  received_.words()[word] ^= std::uint64_t{1} << bit;
}

Outcome<Samples> Lane::round_trips(std::uint64_t rounds) {
  const auto warm = std::min<std::uint64_t>(200, rounds);
  constexpr auto kPatience = std::chrono::seconds{5};
  const auto words = flags_.words();
  std::atomic_ref<std::uint64_t> asked{words[0]};
  std::atomic_ref<std::uint64_t> answered{words[kAnswer]};
  asked = 0;
  answered = 0;
  TRY(auto* seen, flags_.on_device());
  answer_host(seen, seen + kAnswer, rounds + warm, down_.get());
  TRY(launched("answering the host"));
  Samples samples;
  bool is_heard = true;
  for (std::uint64_t round = 1; round <= rounds + warm && is_heard; ++round) {
    const auto begun = Clock::now();
    asked.store(round, std::memory_order_release);
    while (answered.load(std::memory_order_acquire) < round && is_heard)
      is_heard = Clock::now() - begun < kPatience;
    if (round > warm) samples.add(microseconds_since(begun));
  }
  asked.store(rounds + warm, std::memory_order_release);
  TRY(cuda(cudaStreamSynchronize(down_.get()), "waiting for the GPU's last answer"));
  if (!is_heard)
    return Failure{.code = "cuda",
                   .message =
                       "a kernel that watches a word of the host's memory did not see it "
                       "change within five seconds"};
  return samples;
}

Outcome<Samples> Lane::small_copies(Way way, int rounds) {
  const int warm = std::min(100, rounds);
  const bool down = way == Way::kToGpu;
  void* to = down ? arrived_.get() : received_.bytes().data();
  const void* from = down ? static_cast<const void*>(sent_.bytes().data()) : source_.get();
  Samples samples;
  for (int round = 0; round < rounds + warm; ++round) {
    const auto begun = Clock::now();
    TRY(cuda(cudaMemcpyAsync(to, from, 8, cudaMemcpyDefault, down_.get()), "copying eight bytes"));
    TRY(cuda(cudaStreamSynchronize(down_.get()), "copying eight bytes"));
    if (round >= warm) samples.add(microseconds_since(begun));
  }
  return samples;
}

}  // namespace cupel::burn

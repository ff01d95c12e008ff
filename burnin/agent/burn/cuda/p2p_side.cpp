#include "burnin/agent/burn/cuda/p2p_side.h"

#include <atomic>

#include "burnin/agent/burn/cuda/link_kernels.h"

namespace cupel::burn {
namespace {

constexpr int kBlocksPerSm = 2;

Outcome<> use(int ordinal) { return cuda(cudaSetDevice(ordinal), "choosing a GPU"); }

std::uint64_t seed_of(std::uint64_t seed, Pair flow) {
  return transfer_seed(seed, static_cast<std::uint64_t>(flow.from),
                       static_cast<std::uint64_t>(flow.to));
}

/// With this GPU current; what fails then is its failure.
template <class Side, class Work>
auto on(const Side& side, Work work) -> decltype(work()) {
  if (auto used = use(side.ordinal); !used) return std::move(used).error().on(side.part);
  auto outcome = work();
  if (!outcome) return std::move(outcome).error().on(side.part);
  return outcome;
}

}  // namespace

std::string_view name_of(Engine engine) {
  switch (engine) {
    case Engine::kCopy:
      return "ce";
    case Engine::kStores:
      return "sm";
    case Engine::kLoads:
      return "sm-load";
  }
  return "";
}

Outcome<Peers> Peers::open(std::span<const Device> devices, std::size_t bytes) {
  Peers peers;
  peers.words_ = bytes / 8;
  peers.access_ = Matrix{static_cast<int>(devices.size())};
  for (const auto& device : devices) {
    TRY(use(device.ordinal));
    Side side{.part = device.part(), .ordinal = device.ordinal, .sms = device.gpu.sms};
    TRY(side.sent, device_memory(bytes));
    TRY(side.received, device_memory(bytes));
    TRY(side.found, Counter::create());
    TRY(side.stream, new_stream());
    TRY(side.begin, new_event());
    TRY(side.end, new_event());
    peers.sides_.push_back(std::move(side));
  }
  TRY(use(devices.front().ordinal));
  TRY(peers.gate_, HostMemory::on(std::nullopt, 4096));
  TRY(peers.gate_stream_, new_stream());
  TRY(peers.gate_event_, new_event());
  TRY(peers.open_access());
  return peers;
}

Outcome<> Peers::open_access() {
  for (const auto& pair : ordered_pairs(count())) {
    const auto& from = sides_[pair.from];
    const auto& to = sides_[pair.to];
    int there = 0;
    int back = 0;
    TRY(cuda(cudaDeviceCanAccessPeer(&there, from.ordinal, to.ordinal), "asking for peer access"));
    TRY(cuda(cudaDeviceCanAccessPeer(&back, to.ordinal, from.ordinal), "asking for peer access"));
    access_.set(pair, there != 0 && back != 0 ? 1 : 0);
    if (!has_access(pair)) continue;
    TRY(use(from.ordinal));
    const auto opened = cudaDeviceEnablePeerAccess(to.ordinal, 0);
    if (opened == cudaErrorPeerAccessAlreadyEnabled) {
      cudaGetLastError();  // it would be the next call's
      continue;
    }
    // It said that it could, and cannot: that is a refusal too, and a strange one.
    if (opened == cudaErrorPeerAccessUnsupported) {
      cudaGetLastError();
      access_.set(pair, 0);
      access_.set({pair.to, pair.from}, 0);
      continue;
    }
    TRY(cuda(opened, "opening " + part_of(pair) + " to each other"));
  }
  return done();
}

Outcome<> Peers::wait_for_all() {
  for (auto& side : sides_) {
    TRY(on(side,
           [&] { return cuda(cudaStreamSynchronize(side.stream.get()), "waiting for a GPU"); }));
  }
  return done();
}

Outcome<> Peers::prepare(std::span<const Pair> flows, std::uint64_t seed) {
  for (const auto flow : flows) {
    auto& from = sides_[flow.from];
    TRY(on(from, [&] {
      fill_words(static_cast<std::uint64_t*>(from.sent.get()), words_, seed_of(seed, flow),
                 from.stream.get());
      return launched("filling memory");
    }));
  }
  return wait_for_all();
}

Outcome<> Peers::queue(Pair flow, Engine engine, int copies) {
  const auto& side = mover(flow, engine);
  return on(side, [&] { return queue_on(side, flow, engine, copies); });
}

Outcome<> Peers::queue_on(const Side& side, Pair flow, Engine engine, int copies) {
  auto& from = sides_[flow.from];
  auto& to = sides_[flow.to];
  const auto bytes = words_ * 8;
  const auto stream = side.stream.get();
  TRY(cuda(cudaStreamWaitEvent(stream, gate_event_.get()), "beginning together"));
  TRY(cuda(cudaEventRecord(side.begin.get(), stream), "beginning a copy"));
  for (int copy = 0; copy < copies; ++copy) {
    if (engine == Engine::kCopy) {
      TRY(cuda(cudaMemcpyPeerAsync(to.received.get(), to.ordinal, from.sent.get(), from.ordinal,
                                   bytes, stream),
               "copying to a peer"));
      continue;
    }
    copy_by_sm(to.received.get(), from.sent.get(), bytes, side.sms * kBlocksPerSm, stream);
    TRY(launched("copying to a peer by loads and stores"));
  }
  return cuda(cudaEventRecord(side.end.get(), stream), "ending a copy");
}

Outcome<std::vector<double>> Peers::move(std::span<const Pair> flows, Engine engine, int copies) {
  std::atomic_ref<std::uint64_t> gate{gate_.words()[0]};
  gate = 0;
  TRY(on(sides_.front(), [&]() -> Outcome<> {
    TRY(const auto* seen, gate_.on_device());
    hold(seen, gate_stream_.get());
    TRY(launched("holding the GPUs"));
    return cuda(cudaEventRecord(gate_event_.get(), gate_stream_.get()), "holding the GPUs");
  }));
  Outcome<> queued = done();
  for (const auto flow : flows) {
    queued = queue(flow, engine, copies);
    if (!queued) break;
  }
  gate.store(1, std::memory_order_release);  // also where one could not be queued
  TRY(std::move(queued));
  std::vector<double> took;
  for (const auto flow : flows) {
    auto& side = mover(flow, engine);
    TRY(const double milliseconds, on(side, [&]() -> Outcome<double> {
          TRY(cuda(cudaStreamSynchronize(side.stream.get()), "copying " + part_of(flow)));
          return milliseconds_between(side.begin, side.end);
        }));
    took.push_back(milliseconds);
  }
  return took;
}

Outcome<std::vector<Mismatches>> Peers::check(std::span<const Pair> flows, std::uint64_t seed) {
  for (const auto flow : flows) {
    auto& to = sides_[flow.to];
    TRY(on(to, [&]() -> Outcome<> {
      TRY(to.found.clear(to.stream.get()));
      check_words(static_cast<const std::uint64_t*>(to.received.get()), words_, seed_of(seed, flow),
                  to.found.on_device(), to.stream.get());
      return launched("checking memory");
    }));
  }
  std::vector<Mismatches> all;
  for (const auto flow : flows) {
    auto& to = sides_[flow.to];
    TRY(const auto found, on(to, [&] { return to.found.read(to.stream.get()); }));
    all.push_back(found);
  }
  return all;
}

Outcome<> Peers::plant(Pair flow, std::uint64_t word, int bit) {
  auto& to = sides_[flow.to];
  return on(to, [&]() -> Outcome<> {
    flip_bit(to.received.get(), word * 2 + (bit >= 32 ? 1 : 0), bit % 32, to.stream.get());
    TRY(launched("turning over a bit"));
    return cuda(cudaStreamSynchronize(to.stream.get()), "turning over a bit");
  });
}

}  // namespace cupel::burn

#include "tests/burn/kernels/grid.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "tests/burn/kernels/fiber.h"

#if defined(__SANITIZE_ADDRESS__) || (defined(__has_feature) && __has_feature(address_sanitizer))
#include <sanitizer/common_interface_defs.h>
#define CUPEL_ANNOUNCES_FIBERS 1
#endif

namespace cupel::burn::on_host {

Index threadIdx, blockIdx, blockDim, gridDim;

namespace {

constexpr unsigned kMostThreads = 1024;

struct Fiber {
  std::unique_ptr<char[]> stack = std::make_unique<char[]>(kStack);
  Place place{};
  void* shadow = nullptr;
  Meet at = Meet::kEnd;
  std::array<std::uint64_t, 2> words{};  // two: a quick one's next word must not hide its last
};

std::deque<Fiber> fibers;  // their contexts point into themselves
Place scheduler{};
void* scheduler_shadow = nullptr;
const void* scheduler_stack = nullptr;
std::size_t scheduler_size = 0;
const std::function<void()>* work = nullptr;
std::uint64_t meetings = 0;
unsigned most_blocks = ~0u;
bool backwards = false;

// AddressSanitizer wants to know which stack is in use.
void leaves([[maybe_unused]] void** shadow, [[maybe_unused]] const void* stack,
            [[maybe_unused]] std::size_t size) {
#ifdef CUPEL_ANNOUNCES_FIBERS
  __sanitizer_start_switch_fiber(shadow, stack, size);
#endif
}
void arrived([[maybe_unused]] void* shadow, [[maybe_unused]] const void** stack,
             [[maybe_unused]] std::size_t* size) {
#ifdef CUPEL_ANNOUNCES_FIBERS
  __sanitizer_finish_switch_fiber(shadow, stack, size);
#endif
}

/// To the scheduler, until this fiber's next turn.
void rest(Meet at) {
  const auto thread = threadIdx.x;
  auto& me = fibers[thread];
  me.at = at;
  leaves(&me.shadow, scheduler_stack, scheduler_size);
  switch_to(me.place, scheduler);
  arrived(me.shadow, &scheduler_stack, &scheduler_size);
  threadIdx.x = thread;
}

/// Thread after thread: to make a fiber costs more than most threads do.
void fiber_main() {
  arrived(nullptr, &scheduler_stack, &scheduler_size);
  for (;;) {
    (*work)();
    rest(Meet::kEnd);
  }
}

void enter(unsigned thread) {
  auto& fiber = fibers[thread];
  threadIdx.x = thread;
  leaves(&scheduler_shadow, fiber.stack.get(), kStack);
  switch_to(scheduler, fiber.place);
  arrived(scheduler_shadow, nullptr, nullptr);
}

void run_block(unsigned threads) {
  std::vector<unsigned> alive;
  for (unsigned thread = 0; thread < threads; ++thread) alive.push_back(thread);
  if (backwards) std::ranges::reverse(alive);
  while (!alive.empty()) {
    for (const auto thread : alive) enter(thread);
    std::erase_if(alive, [](unsigned thread) { return fibers[thread].at == Meet::kEnd; });
    for (const auto thread : alive)
      if (fibers[thread].at != fibers[alive.front()].at) {
        misused("threads " + std::to_string(alive.front()) + " and " + std::to_string(thread) +
                " of block " + std::to_string(blockIdx.x) + " wait at different things");
        fibers.clear();  // they stand within the kernel
        return;
      }
    ++meetings;
  }
}

}  // namespace

void meet(Meet what, std::uint64_t word) {
  fibers[threadIdx.x].words[meetings % 2] = word;
  rest(what);
}

std::uint64_t described_answer(unsigned thread) {
  return fibers.at(thread).words[(meetings + 1) % 2];
}

bool any_word() {
  static std::uint64_t of_meeting = ~std::uint64_t{0};
  static bool any = false;
  if (of_meeting == meetings) return any;
  of_meeting = meetings;
  any = false;
  for (unsigned thread = 0; thread < blockDim.x && !any; ++thread)
    any = described_answer(thread) != 0;
  return any;
}

void run(unsigned blocks, unsigned threads, const std::function<void()>& thread) {
  if (threads == 0 || threads > kMostThreads || blocks == 0)
    return misused(std::to_string(blocks) + " blocks of " + std::to_string(threads) + " threads");
  while (fibers.size() < threads) {
    auto& fiber = fibers.emplace_back();
    fiber.place = place_on(fiber.stack.get(), fiber_main);
  }
  work = &thread;
  gridDim.x = std::min(blocks, most_blocks);
  blockDim.x = threads;
  for (blockIdx.x = 0; blockIdx.x < gridDim.x && fibers.size() >= threads; ++blockIdx.x)
    run_block(threads);
}

FewBlocks::FewBlocks(unsigned most) : before_{std::exchange(most_blocks, most)} {}
FewBlocks::~FewBlocks() { most_blocks = before_; }
Backwards::Backwards() { backwards = true; }
Backwards::~Backwards() { backwards = false; }

/// Kernels ask it while they wait for the host, which may need this core.
std::uint64_t nanoseconds() {
  ::sched_yield();
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch() /
                                    std::chrono::nanoseconds{1});
}

}  // namespace cupel::burn::on_host

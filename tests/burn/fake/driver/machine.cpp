#include "tests/burn/fake/driver/machine.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <memory>

#include "tests/burn/fake/driver/faults.h"

namespace fake = cupel::burn::fake;

namespace {

constexpr std::size_t kWrongByte = 1000;
constexpr char kWrongBit = 4;

[[noreturn]] void hang() {
  for (std::mutex never;;) {
    std::condition_variable nothing;
    std::unique_lock lock{never};
    nothing.wait(lock, [] { return false; });
  }
}

void last(std::chrono::milliseconds time) {
  std::mutex mine;
  std::condition_variable nothing;
  std::unique_lock lock{mine};
  nothing.wait_for(lock, time, [] { return false; });
}

/// How many of its kind this is.
int counted(CUctx_st& gpu, const std::string& what) {
  const std::scoped_lock lock{gpu.mutex};
  return ++gpu.counts[what];
}

}  // namespace

CUstream_st::CUstream_st(CUctx_st& gpu) : gpu_{gpu}, thread_{[this] { run(); }} {
  const std::scoped_lock lock{gpu.mutex};
  gpu.streams.insert(this);
}

CUstream_st::~CUstream_st() {
  {
    const std::scoped_lock lock{gpu_.mutex};
    gpu_.streams.erase(this);
  }
  {
    const std::scoped_lock lock{mutex_};
    over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CUstream_st::run() {
  std::unique_lock lock{mutex_};
  for (;;) {
    changed_.wait(lock, [this] { return over_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const auto work = std::move(queue_.front());
    queue_.pop_front();
    busy_ = true;
    lock.unlock();
    work();
    lock.lock();
    busy_ = false;
    changed_.notify_all();
  }
}

void CUstream_st::enqueue(fake::Work work) {
  {
    const std::scoped_lock lock{mutex_};
    queue_.push_back(std::move(work));
  }
  changed_.notify_all();
}

void CUstream_st::put(fake::Operation operation) {
  enqueue([this, operation = std::move(operation)] { do_one(operation); });
}

void CUstream_st::put_mark(fake::Work work) { enqueue(std::move(work)); }

void CUstream_st::do_one(const fake::Operation& operation) {
  const int count = counted(gpu_, operation.what);
  const auto is_now = [&](const auto& fault) {
    return fault && fault->is_at(gpu_.ordinal, operation.what, count);
  };
  const auto& faults = fake::faults();
  if (is_now(faults.crashes)) ::_exit(139);
  if (is_now(faults.stuck)) ::raise(SIGSTOP);
  if (is_now(faults.hangs)) gpu_.hangs = true;
  if (gpu_.hangs) hang();
  if (is_now(faults.slow)) last(std::chrono::milliseconds{faults.slow->status});
  if (is_now(faults.dies)) gpu_.dead = faults.dies->status;
  if (gpu_.dead != 0) return;
  const bool wrong = is_now(faults.wrong);
  const auto flip = [&] {
    auto* const byte = static_cast<char*>(operation.memory) + kWrongByte;
    *byte = static_cast<char>(*byte ^ kWrongBit);
  };
  if (wrong && operation.wrong_before) flip();
  operation.work();
  if (wrong && !operation.wrong_before) flip();
}

void CUstream_st::wait() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
}

bool CUstream_st::is_idle() {
  const std::scoped_lock lock{mutex_};
  return queue_.empty() && !busy_;
}

void CUevent_st::wait_for(std::uint64_t which) {
  std::unique_lock lock{mutex};
  while (done < which && gpu.dead == 0) happened.wait_for(lock, std::chrono::milliseconds{20});
}

namespace cupel::burn::fake {

CUctx_st* gpu_at(int ordinal) {
  static auto* const all = new std::array<CUctx_st, 16>;  // threads may outlive main()
  if (ordinal < 0 || ordinal >= faults().gpus || ordinal >= 16) return nullptr;
  auto& gpu = (*all)[static_cast<std::size_t>(ordinal)];
  [[maybe_unused]] static const bool numbered = [] {
    for (int at = 0; at < 16; ++at) (*all)[static_cast<std::size_t>(at)].ordinal = at;
    return true;
  }();
  return &gpu;
}

void Blocks::add(void* memory, std::size_t bytes, CUctx_st* gpu) {
  const std::scoped_lock lock{mutex_};
  blocks_[static_cast<const char*>(memory)] = {bytes, gpu};
}

std::pair<std::size_t, CUctx_st*> Blocks::take(void* memory) {
  const std::scoped_lock lock{mutex_};
  const auto found = blocks_.find(static_cast<const char*>(memory));
  if (found == blocks_.end()) misuse("memory is freed that was not allocated");
  const auto block = found->second;
  blocks_.erase(found);
  return block;
}

void Blocks::check(const void* memory, std::size_t bytes, const char* what) {
  const auto* const from = static_cast<const char*>(memory);
  const std::scoped_lock lock{mutex_};
  const auto after = blocks_.upper_bound(from);
  if (after == blocks_.begin()) return;  // of the host, not pinned
  const auto& [begin, block] = *std::prev(after);
  const auto* const end = begin + block.first;
  if (from < end && from + bytes > end) misuse(std::string{what} + " past a block's end");
}

Blocks& blocks() {
  static auto* const all = new Blocks;
  return *all;
}

void compute(const Work& work) {
  static auto* const cores = new CUstream_st{*new CUctx_st};
  std::promise<void> done;
  cores->put_mark([&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

void misuse(const std::string& what) {
  std::fprintf(stderr, "fake driver: %s\n", what.c_str());
  std::abort();
}

}  // namespace cupel::burn::fake

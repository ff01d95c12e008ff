#pragma once
// GPUs in the host's memory: a stream is a thread, an event is a moment in it, all kernels run on
// one thread, one after another. What no GPU would forgive ends the program with a message.
#include <cuda.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace cupel::burn::fake {

using Clock = std::chrono::steady_clock;
using Work = std::function<void()>;

struct Operation {
  std::string what{};         // a kernel's name, "product", "sum"; empty: a copy
  void* memory = nullptr;     // in which a bit may be wrong
  bool wrong_before = false;  // the bit is wrong before the work, else after it
  Work work{};
};

}  // namespace cupel::burn::fake

/// A GPU is its primary context.
struct CUctx_st {
  int ordinal = 0;
  std::atomic<int> dead{0};  // the status that each call returns
  std::atomic<std::size_t> used{0};
  std::atomic<bool> hangs{false};
  std::mutex mutex{};
  std::set<CUstream_st*> streams{};
  std::set<CUctx_st*> peers{};
  std::map<std::string, int> counts{};  // of each kind of operation
};

struct CUstream_st {
 public:
  explicit CUstream_st(CUctx_st& gpu);
  ~CUstream_st();
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;

  CUctx_st& gpu() const { return gpu_; }
  void put(cupel::burn::fake::Operation operation);
  /// What belongs to the stream and not to the GPU's work: events.
  void put_mark(cupel::burn::fake::Work work);
  /// Until all that was put has run, or the GPU is dead.
  void wait();
  bool is_idle();

 private:
  void run();
  void enqueue(cupel::burn::fake::Work work);
  void do_one(const cupel::burn::fake::Operation& operation);

  CUctx_st& gpu_;
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::deque<cupel::burn::fake::Work> queue_{};
  bool busy_ = false;
  bool over_ = false;
  std::thread thread_{};
};

struct CUevent_st {
  explicit CUevent_st(CUctx_st& of) : gpu{of} {}
  CUctx_st& gpu;
  std::mutex mutex{};
  std::condition_variable happened{};
  std::uint64_t recorded = 0;
  std::uint64_t done = 0;
  cupel::burn::fake::Clock::time_point at{};

  /// Until its `which`th record has happened, or its GPU is dead.
  void wait_for(std::uint64_t which);
};

namespace cupel::burn::fake {

/// Of this ordinal; nullptr: none.
CUctx_st* gpu_at(int ordinal);

/// Memory of all GPUs, and of the host as far as it is pinned.
class Blocks {
 public:
  void add(void* memory, std::size_t bytes, CUctx_st* gpu);
  /// Ends the program where it is none.
  std::pair<std::size_t, CUctx_st*> take(void* memory);
  /// Ends the program where a block ends within the range.
  void check(const void* memory, std::size_t bytes, const char* what);

 private:
  std::mutex mutex_;
  std::map<const char*, std::pair<std::size_t, CUctx_st*>> blocks_;
};
Blocks& blocks();

/// Runs on the one thread that has all kernels.
void compute(const Work& work);

[[noreturn]] void misuse(const std::string& what);

}  // namespace cupel::burn::fake

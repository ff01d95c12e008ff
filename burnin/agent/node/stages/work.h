#pragma once
// A stage is written as one function that waits: for a tool's end, for time to pass. On a node each
// wait blocks, and the function runs through. In a virtual rack a thousand nodes share one thread,
// so there it is suspended, and resumed when the rack's physics has the answer. One text serves
// both, without threads and without a stack for each node. Knows nothing of Asio.
#include <coroutine>
#include <exception>
#include <functional>
#include <optional>
#include <utility>

namespace cupel::agent {

/// A coroutine that begins when it is awaited or started, and has one result. Owns its frame.
template <class T>
class [[nodiscard]] Work {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  struct promise_type {
    std::optional<T> value{};
    std::exception_ptr bug{};
    std::coroutine_handle<> caller = std::noop_coroutine();

    /// Resumes the coroutine that awaited this one, without a deeper stack.
    struct End {
      bool await_ready() const noexcept { return false; }
      std::coroutine_handle<> await_suspend(Handle ended) const noexcept {
        return ended.promise().caller;
      }
      void await_resume() const noexcept {}
    };
    Work get_return_object() { return Work{Handle::from_promise(*this)}; }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    End final_suspend() const noexcept { return {}; }
    void return_value(T result) { value = std::move(result); }
    void unhandled_exception() { bug = std::current_exception(); }
  };

  Work(Work&& other) noexcept : handle_{std::exchange(other.handle_, nullptr)} {}
  Work& operator=(Work&&) = delete;
  ~Work() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> caller) noexcept {
    handle_.promise().caller = caller;
    return handle_;
  }
  T await_resume() { return result(); }

  /// Of the outermost one: runs to its end, or to the first wait that has no answer yet.
  void start() { handle_.resume(); }
  bool done() const { return handle_.done(); }
  /// Once it is done. Throws what the coroutine threw: a bug.
  T result() {
    if (handle_.promise().bug) std::rethrow_exception(handle_.promise().bug);
    return *std::move(handle_.promise().value);
  }

 private:
  explicit Work(Handle handle) : handle_{handle} {}
  Handle handle_;
};

/// One wait of a stage. `begin` puts the answer in at once and returns true, or keeps the address,
/// returns false, and calls answer() and resume() later. Stays where it is while it is awaited.
template <class T>
class [[nodiscard]] Wait {
 public:
  using Begin = std::function<bool(Wait& wait)>;

  explicit Wait(Begin begin) : begin_{std::move(begin)} {}
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
  ~Wait() = default;

  void answer(T answer) { answer_ = std::move(answer); }
  void resume() const { stage_.resume(); }

  bool await_ready() { return begin_(*this); }
  void await_suspend(std::coroutine_handle<> stage) noexcept { stage_ = stage; }
  T await_resume() { return std::move(answer_); }

 private:
  Begin begin_;
  T answer_{};
  std::coroutine_handle<> stage_{};
};

}  // namespace cupel::agent

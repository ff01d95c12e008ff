#pragma once
// Notices of the service: on a thread of its own, with a desk of its own, so that no hook, however
// slow, takes time from a request or from a run.
#include <memory>

#include "orchestrator/api/request_handler.h"

namespace cupel::api {

class Notices {
 public:
  /// `shared` must outlive it. Errors: kStorage.
  static Result<std::unique_ptr<Notices>> open(Shared& shared);
  Notices(const Notices&) = delete;
  Notices& operator=(const Notices&) = delete;
  /// Breaks off what is under way; it is sent again after a restart.
  ~Notices();

  /// Called with what ended it, on a thread of its own. Before start().
  void on_lost(std::function<void(std::exception_ptr)> lost);
  void start();
  /// Something was written. From any thread.
  void wake();

  /// One look, and what is due at `now` is sent; returns when there is something to do again. Only
  /// where start() was not called: for whoever has the time in their hand.
  engine::WallTime turn(engine::WallTime now);

 private:
  struct Impl;
  explicit Notices(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace cupel::api

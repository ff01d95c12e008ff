#include "burnin/agent/node/boot/image_fetch.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace cupel::agent::boot {
namespace {

// Of curl. Source: curl(1), EXIT CODES.
constexpr int kNoRanges = 33;
constexpr int kUntrusted = 60;

}  // namespace

std::chrono::milliseconds back_off(int failures) {
  constexpr int kMostSeconds = 15;
  return std::chrono::seconds{std::min(1 << std::min(failures, 4), kMostSeconds)};
}

ImageFetch::ImageFetch(Argv argv, std::uint64_t size, std::chrono::seconds patience, Pause pause)
    : argv_{std::move(argv)}, size_{size}, patience_{patience}, pause_{std::move(pause)} {}

Outcome<std::size_t> ImageFetch::read(std::span<char> into) {
  while (received_ < size_) {
    if (!curl_) {
      TRY(connect());
    }
    const auto room = std::min<std::uint64_t>(into.size(), size_ - received_);
    const auto got = ::read(curl_->out.number(), into.data(), room);
    if (got < 0 && errno == EINTR) continue;
    if (got > 0) {
      received_ += static_cast<std::uint64_t>(got);
      last_ = Clock::now();
      failures_ = 0;
      return static_cast<std::size_t>(got);
    }
    TRY(disconnected());
  }
  return std::size_t{0};
}

Outcome<void> ImageFetch::connect() {
  auto argv = argv_;
  // From where it broke; curl fails where the server would begin anew.
  if (received_ > 0) argv.insert(argv.end() - 1, {"-C", std::to_string(received_)});
  TRY(auto started, RunningTool::start(argv, RunningTool::Input::kNone));
  curl_.emplace(std::move(started));
  return {};
}

Outcome<void> ImageFetch::disconnected() {
  const auto ended = curl_->finish();
  curl_.reset();
  const auto message = failure_text({"curl"}, ended);
  if (ended.status == kNoRanges || ended.status == kUntrusted || ended.status == 127)
    return Failure{Cause::kServer, "the image: " + message};
  if (Clock::now() - last_ > patience_)
    return Failure{Cause::kCut, "the image stopped after " + std::to_string(received_) + " of " +
                                    std::to_string(size_) + " bytes, and nothing came for " +
                                    std::to_string(patience_.count()) + " s: " + message};
  pause_(back_off(failures_++));
  return {};
}

}  // namespace cupel::agent::boot

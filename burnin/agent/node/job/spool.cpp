#include "burnin/agent/node/job/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "burnin/agent/common/json_line.h"

namespace cupel::agent {

Result<Spool> Spool::into(const std::string& path, std::uint64_t limit) {
  Spool spool;
  spool.room_ = limit;
  spool.file_ = Descriptor{
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644)};
  if (!spool.file_) return Error{Code::kFailed, path + ": " + std::strerror(errno)};
  return spool;
}

void Spool::take() {
  constexpr int kMostPieces = 16;  // the other stream, the clock and the job's end have a turn too
  char piece[64 * 1024];
  for (int pieces = 0; source_ && !full_ && pieces < kMostPieces; ++pieces) {
    const auto got = ::read(source_.number(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      source_.close();
      return;
    }
    const std::string_view output{piece, static_cast<std::size_t>(got)};
    const auto kept = output.substr(0, std::min<std::uint64_t>(output.size(), room_));
    room_ -= kept.size();
    if (!write_all(file_.number(), kept)) {
      full_ = true;
      why_ = std::string{"its output cannot be written: "} + std::strerror(errno);
    } else if (kept.size() < output.size()) {
      full_ = true;
      why_ = "it wrote more than its spool may hold";
    }
  }
}

void Spool::take_rest() {
  constexpr int kMostTurns = 64;
  for (int turns = 0; source_ && !full_ && turns < kMostTurns; ++turns) take();
}

void Spool::remark(std::string_view words) {
  write_all(file_.number(), "cupel-node: " + std::string{words} + "\n");
}

void Spool::sync() { ::fsync(file_.number()); }

}  // namespace cupel::agent

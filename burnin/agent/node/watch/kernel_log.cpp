#include "burnin/agent/node/watch/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/text.h"

namespace cupel::agent {

KernelLog::KernelLog(const Tree& tree, From from)
    : file_{::open(tree.real("/dev/kmsg").c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {
  if (!file_) why_ = std::strerror(errno);
  // What was there before belongs to somebody else.
  if (file_ && from == From::end) ::lseek(file_.number(), 0, SEEK_END);
}

/// The kernel gives one whole record for each read(2); a pipe in its place may give several, each
/// at the beginning of a line, its dictionary in lines that begin with a blank, and cut anywhere.
std::vector<KernelRecord> KernelLog::read(std::size_t most) {
  std::vector<KernelRecord> records;
  char buffer[8192];  // the kernel's longest record
  while (file_ && records.size() < most) {
    const auto got = ::read(file_.number(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EPIPE) {
      ++overruns_;
      continue;
    }
    if (got <= 0) break;
    rest_.append(buffer, static_cast<std::size_t>(got));
    const auto whole = rest_.rfind('\n');
    if (whole == rest_.npos && rest_.size() < sizeof buffer) continue;
    std::string record;
    const auto finish = [&] {
      if (auto reported = parse_record(record)) records.push_back(std::move(*reported));
      record.clear();
    };
    for (const auto line : lines(std::string_view{rest_}.substr(0, whole))) {
      if (!line.starts_with(' ')) finish();
      record.append(line).append("\n");
    }
    finish();
    rest_.erase(0, whole == rest_.npos ? whole : whole + 1);
  }
  return records;
}

}  // namespace cupel::agent

#pragma once
// What the stages that write scratch files have in common: an order of so many bytes for so many
// seconds, the file system under a folder, and fio's jobs.
#include "burnin/agent/node/stages/order.h"
#include "burnin/agent/node/stages/stage.h"

namespace cupel::agent {

struct FileTest {
  std::string directory{};
  std::uint64_t bytes = 0;
  std::uint64_t runtime = 0;  // seconds of each measurement
  std::chrono::seconds limit{};
};

/// Within the bounds of the stages' parameters, unless `order` says why() not.
FileTest file_test_of(OrderReader& order);

/// As /proc/mounts has it.
struct Mount {
  std::string path{};
  std::string type{};  // "ext4"
};

/// The file system on which `path`, without links, lies: the longest mount above it, of several at
/// one place the last. Empty where none is listed.
Mount mount_of(const Tree& tree, const std::string& path);

/// Why so many bytes, and a tenth, do not fit there; empty where they do.
std::string too_small(const Scratch::Room& room, std::uint64_t bytes);

/// fio with its report as JSON on standard output; `words` follow, the jobs last.
Command fio(std::vector<std::string> words, std::chrono::seconds limit);
/// A job that measures: all of its time, however often it comes to the file's end.
void add_timed_job(Command& fio, std::string_view name, std::uint64_t runtime,
                   std::vector<std::string> words);
/// Writes the whole file once, and reads each block of it back. It knows no time: a verification
/// cut short proves less than it says.
void add_verification(Command& fio, std::vector<std::string> words);

}  // namespace cupel::agent

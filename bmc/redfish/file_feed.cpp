#include "bmc/redfish/file_feed.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <mutex>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

#include "base/regular_file.h"
#include "base/text.h"
#include "bmc/redfish/file_digest.h"

namespace cupel::bmc::redfish {
namespace {

class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : fd_{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)} {}  // a pipe ends no open(2)
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

Error of_the_disk(const std::string& path, std::string_view act) {
  const int why = errno;
  const auto code = why == ENOENT || why == ENOTDIR ? Code::kNotFound : Code::kFailed;
  return Error{code, fmt::format("{}: {}: {}", printable(path), act,
                                 std::error_code{why, std::generic_category()}.message())};
}

/// As many bytes as fit, fewer only at the file's end; less than 0: errno says why not.
ssize_t read_fully(int fd, std::span<char> into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const auto more = ::read(fd, into.data() + got, into.size() - got);
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return more;
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  return static_cast<ssize_t>(got);
}

}  // namespace

/// What the reading thread and the loop share. The thread outlives its feed where the disk hangs.
struct FileFeed::State {
  static constexpr std::size_t kPieces = 2;

  State(asio::any_io_executor on, CheckedFile which, std::function<void()> news)
      : file{std::move(which)},
        digest{FileDigest::of(fmt::format("{} {} {}", file.sha256, file.bytes, file.path))},
        executor{std::move(on)},
        on_news{std::move(news)} {}

  const CheckedFile file;
  const std::shared_ptr<FileDigest> digest;
  std::mutex mutex{};
  // Under the mutex:
  std::condition_variable room{};
  std::array<std::vector<char>, kPieces> pieces{};
  std::size_t first = 0, filled = 0;
  std::size_t taken = 0;  // of the first one
  std::optional<Error> failure{};
  bool stopped = false, hungry = true;
  asio::any_io_executor executor;
  // Of the loop alone:
  std::function<void()> on_news;

  /// The loop hears of it if it waits.
  static void tell(const std::shared_ptr<State>& state) {
    if (state->stopped || !std::exchange(state->hungry, false)) return;
    asio::post(state->executor, [state] {
      if (state->on_news) state->on_news();
    });
  }

  /// An empty piece to read into; nothing: nobody wants more.
  std::vector<char>* empty_piece() {
    std::unique_lock lock{mutex};
    room.wait(lock, [this] { return stopped || filled < kPieces; });
    if (stopped) return nullptr;
    return &pieces[(first + filled) % kPieces];
  }

  Result<void> check(const OpenFile& opened) const {
    if (opened.fd() < 0) return of_the_disk(file.path, "open");
    TRY(check_regular(opened.fd(), printable(file.path)));
    struct stat found{};
    if (::fstat(opened.fd(), &found) != 0) return of_the_disk(file.path, "stat");
    if (static_cast<std::uint64_t>(found.st_size) != file.bytes)
      return Error{Code::kInvalid, fmt::format("{}: {} bytes, expected {}", printable(file.path),
                                               found.st_size, file.bytes)};
    (void)::posix_fadvise(opened.fd(), 0, 0, POSIX_FADV_SEQUENTIAL);
    return ok();
  }

  Result<void> read_all(const std::shared_ptr<State>& self) {
    OpenFile opened{file.path};
    TRY(check(opened));
    std::size_t number = 0;
    for (std::uint64_t left = file.bytes; left > 0; ++number) {
      auto* piece = empty_piece();
      if (piece == nullptr) return ok();
      piece->resize(static_cast<std::size_t>(std::min<std::uint64_t>(left, kPiece)));
      const auto got = read_fully(opened.fd(), *piece);
      if (got < 0) return of_the_disk(file.path, "read");
      if (static_cast<std::size_t>(got) < piece->size())
        return Error{Code::kInvalid, fmt::format("{}: ended {} bytes early while it was sent",
                                                 printable(file.path), left - got)};
      if (!digest->add(number, {piece->data(), piece->size()}))
        return Error{Code::kInvalid, printable(file.path) + ": was changed while it was sent"};
      left -= piece->size();
      if (left == 0) {
        TRY(expect(digest->hex()));
      }
      const std::lock_guard lock{mutex};
      ++filled;
      tell(self);
    }
    return ok();
  }

  Result<void> expect(const std::string& sum) const {
    if (sum == file.sha256) return ok();
    return Error{Code::kInvalid, fmt::format("{}: SHA-256 {}, expected {}", printable(file.path),
                                             sum, file.sha256)};
  }

  static void run(const std::shared_ptr<State>& state) {
    auto done = state->read_all(state);
    if (done) return;
    const std::lock_guard lock{state->mutex};
    state->failure = std::move(done).error();
    tell(state);
  }
};

FileFeed::FileFeed(const asio::any_io_executor& executor, CheckedFile file,
                   std::function<void()> on_news)
    : state_{std::make_shared<State>(executor, std::move(file), std::move(on_news))} {
  if (state_->file.bytes == 0) {
    state_->failure = Error{Code::kInvalid, printable(state_->file.path) + ": an empty file"};
    return;
  }
  try {
    // Not joined: a disk that is gone may never return. All that it touches is the state's.
    std::thread{[state = state_] { State::run(state); }}.detach();
  } catch (const std::system_error& error) {
    state_->failure = Error{Code::kFailed, printable(state_->file.path) + ": " + error.what()};
  }
}

FileFeed::~FileFeed() {
  state_->on_news = nullptr;
  const std::lock_guard lock{state_->mutex};
  state_->stopped = true;
  state_->executor = {};
  state_->room.notify_one();
}

std::size_t FileFeed::take(char* into, std::size_t most) {
  const std::lock_guard lock{state_->mutex};
  auto& state = *state_;
  state.hungry = state.filled == 0;
  if (state.hungry) return 0;
  const auto& piece = state.pieces[state.first];
  const auto count = std::min(most, piece.size() - state.taken);
  std::copy_n(piece.data() + state.taken, count, into);
  state.taken += count;
  if (state.taken < piece.size()) return count;
  state.taken = 0;
  state.first = (state.first + 1) % State::kPieces;
  --state.filled;
  state.room.notify_one();
  return count;
}

bool FileFeed::has_bytes() const {
  const std::lock_guard lock{state_->mutex};
  return state_->filled > 0;
}

std::optional<Error> FileFeed::failure() const {
  const std::lock_guard lock{state_->mutex};
  return state_->failure;
}

}  // namespace cupel::bmc::redfish

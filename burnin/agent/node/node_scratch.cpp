#include "burnin/agent/node/node_scratch.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#include "burnin/agent/common/descriptor.h"
#include "burnin/agent/node/tree.h"

namespace cupel::agent {
namespace {

constexpr std::size_t kMostFolders = 256;
constexpr std::size_t kMostLeftovers = 8192;  // names that are looked at
constexpr std::size_t kTried = 1u << 20, kAligned = 4096;
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
/// Of the stage; `report` is of those of earlier versions.
constexpr std::array kFiles{"file", "report", ".cupel-probe"};

/// Those that are there now, for the handler of a signal, which may use neither memory nor locks.
struct Live {
  volatile sig_atomic_t there = 0;
  int room = -1, folder = -1;
  std::array<char, NAME_MAX + 1> name{};
};
std::array<Live, kMostFolders> live_folders{};

/// All that is ours in it, and then itself, if its name still leads to it. For a handler too.
void remove_folder(int room, int folder, const char* name) {
  for (const auto* file : kFiles) ::unlinkat(folder, file, 0);
  struct stat ours{}, named{};
  const bool same = ::fstat(folder, &ours) == 0 &&
                    ::fstatat(room, name, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                    ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
  if (same) ::unlinkat(room, name, AT_REMOVEDIR);
}

/// TERM to each child. What a child has started itself is left to it, and to who looks after the
/// job. Source: proc(5), /proc/[pid]/task/[tid]/children: "123 456 ".
void end_children() {
  const int list = ::open("/proc/thread-self/children", O_RDONLY | O_CLOEXEC);
  if (list < 0) return;
  pid_t child = 0;
  std::array<char, 4096> piece;
  for (ssize_t got = 0; (got = ::read(list, piece.data(), piece.size())) > 0;)
    for (ssize_t i = 0; i < got; ++i) {
      const char c = piece[static_cast<std::size_t>(i)];
      if (c >= '0' && c <= '9') {
        child = child * 10 + (c - '0');
      } else {
        if (child > 0) ::kill(child, SIGTERM);
        child = 0;
      }
    }
  ::close(list);
}

/// A tool that writes on meanwhile writes to a file without a name.
void end_by_signal(int number) {
  end_children();
  for (const auto& each : live_folders)
    if (each.there != 0) remove_folder(each.room, each.folder, each.name.data());
  ::raise(number);  // SA_RESETHAND: now it ends the process
}

/// A signal that is ignored stays so: nohup(1).
void heed_signals() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction now{}, ours{};
    if (::sigaction(number, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) continue;
    ours.sa_handler = end_by_signal;
    ours.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(number, &ours, nullptr);
  }
}

/// Keeps the three signals away while a list that their handler reads is changed.
class SignalsLater {
 public:
  SignalsLater() {
    sigset_t three;
    ::sigemptyset(&three);
    for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&three, number);
    ::sigprocmask(SIG_BLOCK, &three, &before_);
  }
  SignalsLater(const SignalsLater&) = delete;
  SignalsLater& operator=(const SignalsLater&) = delete;
  ~SignalsLater() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

std::string own_name() {
  struct utsname system{};
  if (::uname(&system) != 0) return "node";
  std::string name{system.nodename};
  std::ranges::replace(name, '/', '_');
  return name.empty() ? "node" : name;
}

/// Letters and digits that nobody foresees.
std::string random_word() {
  constexpr std::string_view kSigns =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::array<unsigned char, 8> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string word;
  for (const auto byte : bytes) word += kSigns[byte % kSigns.size()];
  return word;
}

/// Names in a folder that is open, without "." and "..".
std::vector<std::string> entries_of(int folder, std::size_t most) {
  std::vector<std::string> names;
  const int again = ::openat(folder, ".", kFolder);
  DIR* list = again < 0 ? nullptr : ::fdopendir(again);
  if (list == nullptr) {
    if (again >= 0) ::close(again);
    return names;
  }
  while (names.size() < most) {
    const auto* entry = ::readdir(list);
    if (entry == nullptr) break;
    const std::string_view name{entry->d_name};
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(list);
  return names;
}

/// Whose files ours are, a file tells: a server of NFS makes root's files somebody else's. Its mode
/// lets nobody else in; a setgid bit may be inherited.
bool is_ours(int folder) {
  constexpr const char* kProbe = ".cupel-probe";
  ::unlinkat(folder, kProbe, 0);
  const Descriptor probe{
      ::openat(folder, kProbe, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)};
  struct stat file{}, around{};
  const bool known = probe && ::fstat(probe.number(), &file) == 0 && ::fstat(folder, &around) == 0;
  if (probe) ::unlinkat(folder, kProbe, 0);
  return known && around.st_uid == file.st_uid &&
         (around.st_mode & 07777 & ~static_cast<mode_t>(S_ISGID)) == S_IRWXU;
}

bool is_running(int process) { return ::kill(process, 0) == 0 || errno == EPERM; }

void remove_leftovers(int room, std::string_view kind, const std::string& host) {
  for (const auto& name : entries_of(room, kMostLeftovers)) {
    const auto read = ScratchName::read(name, kind);
    if (!read || read->host != host || is_running(read->process)) continue;
    const Descriptor left{::openat(room, name.c_str(), kFolder)};
    if (left && is_ours(left.number())) remove_folder(room, left.number(), name.c_str());
  }
}

class NodeFolder final : public ScratchFolder {
 public:
  NodeFolder(Descriptor room, Descriptor folder, std::string name)
      : room_{std::move(room)}, folder_{std::move(folder)}, name_{std::move(name)} {
    const SignalsLater later;
    const auto free =
        std::ranges::find_if(live_folders, [](const Live& each) { return each.there == 0; });
    if (free == live_folders.end()) return;
    place_ = &*free;
    place_->room = room_.number();
    place_->folder = folder_.number();
    name_.copy(place_->name.data(), NAME_MAX);
    place_->name[std::min<std::size_t>(name_.size(), NAME_MAX)] = '\0';
    place_->there = 1;
  }
  NodeFolder(const NodeFolder&) = delete;
  NodeFolder& operator=(const NodeFolder&) = delete;
  ~NodeFolder() override {
    const SignalsLater later;
    if (place_ != nullptr) place_->there = 0;
    const bool left = ::chdir("/") == 0;  // what is started later begins in no removed folder
    static_cast<void>(left);
    remove_folder(room_.number(), folder_.number(), name_.c_str());
  }

  /// Whether a signal would remove it.
  bool is_kept_in_mind() const { return place_ != nullptr; }
  const std::string& name() const override { return name_; }
  bool takes_direct() const override {
    const Descriptor file{::openat(folder_.number(), "file",
                                   O_WRONLY | O_CREAT | O_EXCL | O_DIRECT | O_NOFOLLOW | O_CLOEXEC,
                                   0600)};
    // Not every file system that refuses it does so before it has made the file.
    bool taken = false;
    if (file) {
      void* zeros = std::aligned_alloc(kAligned, kTried);
      if (zeros != nullptr) {
        std::memset(zeros, 0, kTried);
        taken = ::write(file.number(), zeros, kTried) == static_cast<ssize_t>(kTried);
      }
      std::free(zeros);
    }
    ::unlinkat(folder_.number(), "file", 0);
    return taken;
  }
  bool enter() override { return ::fchdir(folder_.number()) == 0; }

 private:
  Descriptor room_;
  Descriptor folder_;
  std::string name_;
  Live* place_ = nullptr;
};

/// Nothing where it is no longer the folder that was looked at.
Descriptor open_room(const std::string& root, const Scratch::Room& room) {
  Descriptor open{::open((root + room.path).c_str(), kFolder)};
  struct stat what{};
  const bool same = open && ::fstat(open.number(), &what) == 0 && what.st_dev == room.device &&
                    what.st_ino == room.inode;
  return same ? std::move(open) : Descriptor{};
}

/// No O_CLOEXEC: a tool inherits it, and the claim with it.
class NodeDevice final : public HeldDevice {
 public:
  explicit NodeDevice(Descriptor open) : open_{std::move(open)} {}

 private:
  Descriptor open_;
};

/// What the kernel reports of the device that is open, whatever its name was.
std::string serial_of(const std::string& root, dev_t number) {
  const auto folder =
      "/sys/dev/block/" + std::to_string(major(number)) + ":" + std::to_string(minor(number));
  return Tree{root}.text(folder + "/device/serial").value_or("");
}

std::string changed(const std::string& path) {
  return "another user changed " + path +
         " while it was made: make the folder above it sticky (chmod +t), or writable for its "
         "owner alone";
}

}  // namespace

NodeScratch::NodeScratch(std::string root) : root_{std::move(root)} {
  while (root_.ends_with('/')) root_.pop_back();
  heed_signals();
}

std::optional<Scratch::Room> NodeScratch::look(const std::string& folder) const {
  std::array<char, PATH_MAX> where{}, top{};
  if (::realpath((root_ + folder).c_str(), where.data()) == nullptr) return std::nullopt;
  std::string path{where.data()};
  if (!root_.empty()) {
    if (::realpath(root_.c_str(), top.data()) == nullptr || !path.starts_with(top.data()))
      return std::nullopt;
    path.erase(0, std::strlen(top.data()));
  }
  const Descriptor open{::open(where.data(), kFolder)};
  struct stat what{};
  struct statvfs space{};
  if (!open || ::fstat(open.number(), &what) != 0 || ::fstatvfs(open.number(), &space) != 0)
    return std::nullopt;
  return Room{path.empty() ? "/" : path,
              static_cast<std::uint64_t>(space.f_bavail) * space.f_frsize / 1024, what.st_dev,
              what.st_ino};
}

Scratch::Made NodeScratch::make(const Room& room, std::string_view kind) {
  const auto above = open_room(root_, room);
  if (!above) return {nullptr, room.path + " became another folder while it was looked at"};
  const ScratchName made{own_name(), static_cast<std::uint64_t>(::time(nullptr)), ::getpid()};
  remove_leftovers(above.number(), kind, made.host);
  const auto word = random_word();
  const auto name = made.text(kind, word);
  if (word.empty() || ::mkdirat(above.number(), name.c_str(), S_IRWXU) != 0)
    return {nullptr, "make the folder " + room.below(name) + ": " + std::strerror(errno)};
  auto taken = take(room, name);
  if (!taken.folder) ::unlinkat(above.number(), name.c_str(), AT_REMOVEDIR);
  return taken;
}

Scratch::Made NodeScratch::take(const Room& room, const std::string& name) const {
  auto above = open_room(root_, room);
  Descriptor folder{above ? ::openat(above.number(), name.c_str(), kFolder) : -1};
  struct stat what{};
  const bool ours = folder && ::fstat(folder.number(), &what) == 0 && what.st_dev == room.device &&
                    entries_of(folder.number(), 1).empty() && is_ours(folder.number());
  if (!ours) return {nullptr, changed(room.below(name))};
  auto taken = std::make_unique<NodeFolder>(std::move(above), std::move(folder), name);
  if (!taken->is_kept_in_mind())
    return {nullptr, "there are " + std::to_string(kMostFolders) + " scratch folders already"};
  return {std::move(taken), {}};
}

Scratch::Held NodeScratch::hold(const std::string& device, const std::string& serial) {
  const auto path = root_ + device;
  // Looked at first: to open another kind of file may wait, or do something.
  struct stat what{};
  if (::stat(path.c_str(), &what) != 0) return {nullptr, std::strerror(errno)};
  if (!S_ISBLK(what.st_mode)) return {nullptr, std::string{kNoBlockDevice}};
  Descriptor open{::open(path.c_str(), O_RDWR | O_EXCL | O_NONBLOCK)};
  if (!open) return {nullptr, errno == EBUSY ? "it is in use (O_EXCL)" : std::strerror(errno)};
  if (::fstat(open.number(), &what) != 0 || !S_ISBLK(what.st_mode))
    return {nullptr, std::string{kNoBlockDevice}};
  const auto found = serial_of(root_, what.st_rdev);
  if (serial.empty() || found != serial)
    return {nullptr, "its serial number is '" + found + "', not '" + serial + "'"};
  return {std::make_unique<NodeDevice>(std::move(open)), {}};
}

}  // namespace cupel::agent

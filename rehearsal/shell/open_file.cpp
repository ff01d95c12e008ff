#include "rehearsal/shell/open_file.h"

#include <cerrno>

#include "rehearsal/shell/process.h"

namespace cupel::rehearsal {

Task<int> OpenFile::read(Process&, std::string&, std::size_t) { co_return EBADF; }
Task<int> OpenFile::write(Process&, std::string_view) { co_return EBADF; }

void Pipe::changed() {
  auto all = std::exchange(waiting_, {});
  for (const auto& one : all)
    if (const auto process = one.lock()) process->wake();
}

void Pipe::wait(const std::shared_ptr<Process>& process) { waiting_.push_back(process); }

namespace {

class PipeReader : public OpenFile {
 public:
  explicit PipeReader(std::shared_ptr<Pipe> pipe) : pipe_{std::move(pipe)} {}
  ~PipeReader() override {
    pipe_->reader_gone = true;
    pipe_->queue.clear();
    pipe_->changed();
    if (pipe_->on_space) pipe_->on_space();
  }

  Task<int> read(Process& process, std::string& into, std::size_t limit) override {
    const auto pipe = pipe_;
    for (;;) {
      if (process.interrupted()) co_return EINTR;
      if (!pipe->queue.empty()) break;
      if (pipe->writer_gone) co_return 0;
      pipe->wait(process.shared_from_this());
      co_await process.block();
    }
    const auto size = std::min(limit, pipe->queue.size());
    into.append(pipe->queue, 0, size);
    pipe->queue.erase(0, size);
    pipe->changed();
    if (pipe->on_space) pipe->on_space();
    co_return 0;
  }

 private:
  std::shared_ptr<Pipe> pipe_;
};

class PipeWriter : public OpenFile {
 public:
  explicit PipeWriter(std::shared_ptr<Pipe> pipe) : pipe_{std::move(pipe)} {}
  ~PipeWriter() override {
    pipe_->writer_gone = true;
    pipe_->changed();
    if (pipe_->on_data) pipe_->on_data();
  }

  Task<int> write(Process& process, std::string_view bytes) override {
    const auto pipe = pipe_;
    while (!bytes.empty()) {
      if (process.fatal() != 0) co_return EINTR;
      if (pipe->reader_gone) {
        process.signal(13);
        co_return EPIPE;
      }
      if (pipe->queue.size() >= pipe->capacity) {
        pipe->wait(process.shared_from_this());
        co_await process.block();
        continue;
      }
      const auto size = std::min(bytes.size(), pipe->capacity - pipe->queue.size());
      pipe->queue.append(bytes.substr(0, size));
      bytes.remove_prefix(size);
      pipe->changed();
      if (pipe->on_data) pipe->on_data();
    }
    co_return 0;
  }

 private:
  std::shared_ptr<Pipe> pipe_;
};

class OpenInode : public OpenFile {
 public:
  OpenInode(FileSystem& disk, InodePtr node, bool append)
      : disk_{disk}, node_{std::move(node)}, append_{append} {
    if (node_->kind == Inode::Kind::generated) snapshot_ = node_->generate();
  }

  Task<int> read(Process&, std::string& into, std::size_t limit) override {
    if (node_->is_folder()) co_return EISDIR;
    const bool generated = node_->kind == Inode::Kind::generated;
    const std::string& bytes = generated ? snapshot_ : node_->bytes;
    const std::uint64_t size = generated ? bytes.size() : node_->size;
    if (at_ >= size) co_return 0;
    const auto end = std::min<std::uint64_t>(size, at_ + limit);
    if (at_ < bytes.size())
      into.append(bytes, at_, std::min<std::uint64_t>(end, bytes.size()) - at_);
    if (end > bytes.size()) into.append(end - std::max<std::uint64_t>(at_, bytes.size()), '\0');
    at_ = end;
    co_return 0;
  }

  Task<int> write(Process& process, std::string_view bytes) override {
    if (node_->kind != Inode::Kind::file) co_return node_->is_folder() ? EISDIR : EACCES;
    if (append_) at_ = node_->size;
    const bool fits = disk_.write(*node_, at_, bytes, process.now());
    if (!fits) co_return ENOSPC;
    at_ += bytes.size();
    co_return 0;
  }

  InodePtr inode() const override { return node_; }

 private:
  FileSystem& disk_;
  InodePtr node_;
  bool append_;
  std::uint64_t at_ = 0;
  std::string snapshot_{};
};

class OpenDevice : public OpenFile {
 public:
  explicit OpenDevice(InodePtr node) : node_{std::move(node)} {}

  Task<int> read(Process&, std::string& into, std::size_t limit) override {
    if (node_->bytes == "null") co_return 0;
    if (node_->bytes == "zero") {
      into.append(limit, '\0');
      co_return 0;
    }
    if (node_->bytes == "random") {
      for (std::size_t i = 0; i < limit; ++i) {
        // Not for secrets: only so that two reads differ (splitmix64).
        auto z = (state_ += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        into += static_cast<char>(z >> 56);
      }
      co_return 0;
    }
    co_return EIO;
  }

  Task<int> write(Process&, std::string_view) override {
    if (node_->bytes == "full") co_return ENOSPC;
    co_return node_->bytes == "disk" ? EIO : 0;
  }

  InodePtr inode() const override { return node_; }

 private:
  InodePtr node_;
  std::uint64_t state_ = reinterpret_cast<std::uintptr_t>(this) ^
                         static_cast<std::uint64_t>(Clock::Real::now().time_since_epoch().count());
};

}  // namespace

OpenFilePtr pipe_reader(std::shared_ptr<Pipe> pipe) {
  return std::make_shared<PipeReader>(std::move(pipe));
}
OpenFilePtr pipe_writer(std::shared_ptr<Pipe> pipe) {
  return std::make_shared<PipeWriter>(std::move(pipe));
}

PipeEnds make_pipe() {
  const auto pipe = std::make_shared<Pipe>();
  return {.reader = pipe_reader(pipe), .writer = pipe_writer(pipe)};
}

OpenFilePtr open_inode(FileSystem& disk, InodePtr node, bool append) {
  if (node->kind == Inode::Kind::device) return std::make_shared<OpenDevice>(std::move(node));
  return std::make_shared<OpenInode>(disk, std::move(node), append);
}

}  // namespace cupel::rehearsal

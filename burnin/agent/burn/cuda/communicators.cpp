#include "burnin/agent/burn/cuda/communicators.h"

#include <poll.h>

#include <thread>

#include "burnin/agent/burn/cuda/cuda_check.h"
#include "burnin/agent/burn/nccl_api.h"

namespace cupel::burn {

Outcome<std::unique_ptr<Communicators>> Communicators::open(const nccl::Library& library,
                                                            std::span<const int> ordinals) {
  Part part{.ranks = static_cast<int>(ordinals.size())};
  TRY(library.check(library->ncclGetUniqueId(&part.id), "ncclGetUniqueId"));
  std::unique_ptr<Communicators> all{new Communicators{library, std::move(part)}};
  TRY(all->begin(ordinals, {}));
  return all;
}

Outcome<std::unique_ptr<Communicators>> Communicators::join(const nccl::Library& library,
                                                            std::span<const int> ordinals,
                                                            Part part) {
  std::unique_ptr<Communicators> all{new Communicators{library, std::move(part)}};
  nccl::Config config;
  config.blocking = 0;
  Outcome<> come = all->begin(ordinals, config);
  for (int rank = 0; rank < all->count() && come; ++rank) come = all->settled(rank);
  if (!come) {
    all->abort();
    return std::move(come).error();
  }
  return all;
}

Outcome<> Communicators::begin(std::span<const int> ordinals, nccl::Config config) {
  ranks_.resize(ordinals.size());
  for (const int ordinal : ordinals) {
    TRY(cuda(cudaSetDevice(ordinal), "choosing a GPU"));
  }
  TRY(library_.check(library_->ncclGroupStart(), "ncclGroupStart"));
  Outcome<> begun = done();
  for (std::size_t rank = 0; rank < ordinals.size() && begun; ++rank) {
    // Where this fails the group is not ended: that would begin the ranks before it, which wait for
    // the others for ever. Nothing more is asked of NCCL then.
    TRY(cuda(cudaSetDevice(ordinals[rank]), "choosing a GPU"));
    begun =
        library_.check(library_->ncclCommInitRankConfig(&ranks_[rank].comm, part_.ranks, part_.id,
                                                        rank_of(static_cast<int>(rank)), &config),
                       "ncclCommInitRankConfig");
  }
  const auto ended = library_->ncclGroupEnd();
  TRY(std::move(begun));
  return library_.check(ended,
                        "ncclCommInitRankConfig for " + std::to_string(ordinals.size()) + " GPUs");
}

Communicators::~Communicators() {
  if (is_aborted_) abort();
  for (const auto& member : ranks_)
    if (member.comm != nullptr) library_->ncclCommDestroy(member.comm);
}

Outcome<nccl::Status> Communicators::state(int rank) const {
  const auto& member = ranks_[static_cast<std::size_t>(rank)];
  const std::scoped_lock lock{member.mutex};
  if (member.comm == nullptr)
    return Failure{.code = "nccl", .message = "the communicator was aborted"};
  auto status = nccl::kSuccess;
  TRY(library_.check(library_->ncclCommGetAsyncError(member.comm, &status),
                     "ncclCommGetAsyncError"));
  TRY(library_.check(status, "an operation of NCCL that was queued before", member.comm));
  return status;
}

Outcome<> Communicators::sound(int rank) const {
  TRY(state(rank));
  return done();
}

Outcome<> Communicators::settled(int rank) const {
  constexpr int kQuick = 1000;  // an operation is taken soon; other nodes' ranks may take minutes
  constexpr int kPause = 1;     // ms
  for (int tries = 0; part_.goes_on; ++tries) {
    TRY(const auto now, state(rank));
    if (now != nccl::kInProgress) return done();
    if (!part_.goes_on())
      return Failure{.code = "nccl", .message = "given up: the time was over, or it was stopped"};
    if (tries < kQuick)
      std::this_thread::yield();
    else
      ::poll(nullptr, 0, kPause);  // NCCL has no event for it
  }
  return done();
}

void Communicators::abort(int rank) {
  auto& member = ranks_[static_cast<std::size_t>(rank)];
  const std::scoped_lock lock{member.mutex};
  is_aborted_ = true;
  if (member.comm == nullptr) return;
  library_->ncclCommAbort(member.comm);
  member.comm = nullptr;
}

void Communicators::abort() {
  for (int rank = 0; rank < count(); ++rank) abort(rank);
}

namespace {

class LoadedNccl : public NcclApi {
 public:
  explicit LoadedNccl(std::unique_ptr<Communicators> all) : all_{std::move(all)} {}

  std::string version() const override { return all_->library().version_name(); }

  Outcome<> all_reduce(int rank, const void* in, void* out, std::size_t count, Element element,
                       CUstream_st* stream) override {
    const auto& library = all_->library();
    const auto comm = all_->of(rank);
    const auto type = element == Element::kFloat ? nccl::kFloat32 : nccl::kBfloat16;
    TRY(library.check(library->ncclAllReduce(in, out, count, type, nccl::kSum, comm, stream),
                      "ncclAllReduce", comm));
    TRY(all_->settled(rank));
    return all_->sound(rank);
  }

  Outcome<> sound(int rank) override { return all_->sound(rank); }

  void abort() override { all_->abort(); }

 private:
  std::unique_ptr<Communicators> all_;
};

}  // namespace

Outcome<std::unique_ptr<NcclApi>> open_nccl(const std::vector<int>& ordinals) {
  TRY(const auto library, nccl::Library::load(nccl::usual_places()));
  TRY(auto all, Communicators::open(library, ordinals));
  return std::unique_ptr<NcclApi>{new LoadedNccl{std::move(all)}};
}

std::unique_ptr<NcclApi> nccl_of(std::unique_ptr<Communicators> all) {
  return std::make_unique<LoadedNccl>(std::move(all));
}

}  // namespace cupel::burn

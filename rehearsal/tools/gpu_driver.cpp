#include "rehearsal/tools/gpu_driver.h"

namespace cupel::rehearsal {

GpuDriver::Context::Context(GpuDriver& driver, std::vector<std::string> gpus, GpuProcess process)
    : driver_{driver}, gpus_{std::move(gpus)}, number_{process.number} {
  for (const auto& gpu : gpus_) {
    auto& board = driver_.boards_[gpu];
    board.processes.push_back(process);
    board.worked = true;
  }
}

GpuDriver::Context::~Context() {
  for (const auto& gpu : gpus_)
    std::erase_if(driver_.boards_[gpu].processes,
                  [this](const GpuProcess& process) { return process.number == number_; });
}

std::vector<GpuProcess> GpuDriver::processes(const std::string& gpu) const {
  const auto found = boards_.find(gpu);
  return found == boards_.end() ? std::vector<GpuProcess>{} : found->second.processes;
}

void GpuDriver::apply(Board& board) {
  ++board.restarts;
  board.worked = false;
  if (board.settings.mig_pending) board.settings.mig = board.settings.mig_pending;
  if (board.settings.ecc_pending) board.settings.ecc = board.settings.ecc_pending;
}

void GpuDriver::restart() {
  for (auto& [name, board] : boards_) {
    apply(board);
    board.settings.persistence.reset();
    board.settings.power_limit.reset();
    board.settings.locked_mhz.reset();
    board.settings.compute_mode.reset();
    board.processes.clear();
    board.absent = board.lost.has_value();
  }
}

void GpuDriver::reset(const std::string& gpu) { apply(boards_[gpu]); }

int GpuDriver::restarts(const std::string& gpu) const {
  const auto found = boards_.find(gpu);
  return found == boards_.end() ? 0 : found->second.restarts;
}

void GpuDriver::lose(const std::string& gpu, double when) {
  auto& board = boards_[gpu];
  if (!board.lost) board.lost = when;
}

bool GpuDriver::worked(const std::string& gpu) const {
  const auto found = boards_.find(gpu);
  return found != boards_.end() && found->second.worked;
}

std::optional<double> GpuDriver::lost(const std::string& gpu) const {
  const auto found = boards_.find(gpu);
  return found == boards_.end() ? std::nullopt : found->second.lost;
}

bool GpuDriver::absent(const std::string& gpu) const {
  const auto found = boards_.find(gpu);
  return found != boards_.end() && found->second.absent;
}

void GpuDriver::power_was_away() {
  for (auto& [name, board] : boards_) board.lost.reset(), board.absent = false;
}

void GpuDriver::refit() {
  for (auto& [name, board] : boards_) board.restarts = 0;
}

}  // namespace cupel::rehearsal

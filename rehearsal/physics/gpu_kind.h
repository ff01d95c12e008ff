#pragma once
// What a kind of GPU draws, withstands and clocks at, and what each work asks of it. Data only.
#include <string_view>

#include "rehearsal/physics/load.h"

namespace cupel::rehearsal {

struct GpuKind {
  std::string_view model;  // as a part of what the hardware says
  double limit_watts;      // nvidia-smi's default power limit
  double least_watts;      // its lowest
  double idle_watts;
  int idle_mhz, most_mhz, memory_mhz;
  double hot_celsius;         // its clocks fall so that it gets no hotter
  double memory_hot_celsius;  // of its HBM
  int nvlinks;
};

/// The kind that the model's name speaks of; one like an H100 where none does.
const GpuKind& gpu_kind(std::string_view model);

/// What a work does to a GPU. Watts as shares of the kind's limit.
struct WorkCost {
  double power;           // asked for at the highest clock; more than 1: the limit decides
  double warmth;          // how much warmer than the chip its memory gets: 1 as much
  int busy, memory_busy;  // utilisation, per cent
  int threads;            // of the host's CPUs, for each GPU
};
const WorkCost& cost_of(Work work);

/// Of the limit: what a GPU takes that works, before its clock matters.
inline constexpr double kStaticShare = 0.16;
/// Power above that goes with so much a power of the clock: voltage falls with it.
inline constexpr double kClockPower = 2.2;

}  // namespace cupel::rehearsal

/* The loop of kernels/lone_bursts.py in C: one path, log loss, doses that grow with the root of
   touches, selection counted at every end of a burst. Weights begin at 0, and a row has a feature
   once at most. Structs have the fields of kernels/rows.py and kernels/units.py. */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

enum { SOON = 2, LATER = 4, MOST = 256, LINE = 64 };

struct rows {
    const int64_t *starts;
    const uint32_t *slots;
    const double *values;
};

struct updates {
    const int64_t *order;
    const double *steps, *biases, *norms, *targets, *importance;
};

struct path {
    double *weights, *bias;
    int32_t *touches;
    uint32_t *touched;
    double *before;
    int64_t *cursor;
};

struct tally {
    int64_t *evidence, *selected;
    uint32_t *owners;
    double *ratios;
    int64_t *pooled;
};

static void prefetch_row(const struct rows *rows, int64_t row)
{
    int64_t first = rows->starts[row], last = rows->starts[row + 1];
    if (last > first + MOST)
        last = first + MOST;
    for (int64_t k = first; k < last; k += LINE / sizeof(uint32_t))
        __builtin_prefetch(rows->slots + k, 0, 3);
    for (int64_t k = first; k < last; k += LINE / sizeof(double))
        __builtin_prefetch(rows->values + k, 0, 3);
}

static double log_slope(double margin, double target)
{
    double agreement = margin * target;
    return agreement > 700.0 ? 0.0 : -target / (1.0 + exp(agreement));
}

static double soft_threshold(double weight, double gravity)
{
    double cut = weight < -gravity ? -gravity : weight;
    return weight - (cut > gravity ? gravity : cut);
}

/* Returns how many updates were made before the numbers overflowed, or -1 without memory. */
int64_t run_path(const struct rows *rows, const struct updates *updates, int64_t n_updates,
                 int64_t size, double gravity, const uint8_t *restrict stable,
                 const struct path *path, const struct tally *tally)
{
    const int64_t *restrict starts = rows->starts, *restrict order = updates->order;
    const uint32_t *restrict slots = rows->slots;
    const double *restrict values = rows->values;
    double *restrict weights = path->weights, *restrict before = path->before;
    int32_t *restrict touches = path->touches;
    uint32_t *restrict touched = path->touched, *restrict owners = tally->owners;
    double *restrict ratios = tally->ratios;
    int64_t *restrict selected = tally->selected;
    int64_t n = 0, pool = 0, filled = 0, ends = 0, learnt = n_updates;
    double constant = path->bias[0];
    double *doses = malloc((size + 1) * sizeof(double));
    if (!doses)
        return -1;
    for (int64_t k = 0; k <= size; k++)
        doses[k] = sqrt((double)k);
    for (int64_t t = 0; t < n_updates; t++) {
        int64_t i = order[t], first = starts[i], last = starts[i + 1];
        int64_t later = order[t + LATER < n_updates ? t + LATER : n_updates - 1];
        __builtin_prefetch(starts + later, 0, 3);
        __builtin_prefetch(updates->targets + later, 0, 3);
        __builtin_prefetch(updates->importance + later, 0, 3);
        double margin = 0.0;
        for (int64_t k = first; k < last; k++)
            margin += weights[slots[k]] * values[k];
        prefetch_row(rows, order[t + SOON < n_updates ? t + SOON : n_updates - 1]);
        margin += updates->biases[t] * constant;
        if (!isfinite(margin)) {
            learnt = t;
            break;
        }
        double slope = log_slope(margin, updates->targets[i]);
        double change = -(updates->steps[t] * updates->importance[i]) * slope;
        constant += change * updates->biases[t];
        for (int64_t k = first; k < last; k++) {
            uint32_t j = slots[k];
            if (stable[j]) {
                touched[n] = j;
                before[n] = weights[j];
                n += touches[j] == 0;
                touches[j]++;
                weights[j] += change * values[k];
            }
        }
        if (++filled < size)
            continue;
        for (int64_t m = 0; m < n; m++) {
            uint32_t j = touched[m];
            double dose = doses[touches[j]], weight = soft_threshold(weights[j], gravity * dose);
            owners[pool] = j;
            ratios[pool++] = fabs(weights[j] - before[m]) / dose;
            weights[j] = weight;
            touches[j] = 0;
            if ((weight != 0.0) != (before[m] != 0.0))
                selected[j] += weight != 0.0 ? -ends : ends;
        }
        n = filled = 0;
        ends++;
    }
    free(doses);
    path->bias[0] = constant;
    path->cursor[0] = n;
    tally->pooled[0] = pool;
    return learnt;
}

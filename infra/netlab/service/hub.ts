/** Address of coordinator and Redis, reached by agents over links that no measured packet takes. */
export const HUB = '10.66.0.1';

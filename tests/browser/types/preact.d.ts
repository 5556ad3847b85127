// Types of static/vendor/preact.js, for the check of the other modules.
export type Ref<T> = { current: T | null };
type Effect = () => void | undefined | (() => void);
export function html(strings: TemplateStringsArray, ...values: any[]): any;
export function h(type: any, props: any, ...children: any[]): any;
export function render(what: any, where: Element): void;
export function useState(first: null | [] | {}): [any, (next: any) => void];
export function useState<T>(first: T | (() => T)): [T, (next: T | ((old: T) => T)) => void];
export function useReducer<S, A>(reduce: (state: S, action: A) => S, first: S): [S, (action: A) => void];
export function useEffect(effect: Effect, also?: any[]): void;
export function useLayoutEffect(effect: Effect, also?: any[]): void;
export function useRef(first: any): { current: any };
export function useMemo<T>(make: () => T, also?: any[]): T;
export function useCallback<T>(callback: T, also?: any[]): T;
